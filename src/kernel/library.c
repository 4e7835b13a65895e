/* Assembles the embedded kernel texts (kernels/, embedded.h) into relocatable objects. Every row of kernels.def must have its
 * text, and the text must define the entry label. */
#include "kernel/catalogue.h"
#include "kernel/embedded.h"

enum {
    TRIAL_BASE = SRAM_IMAGE_BASE
}; /* any executable address: only the size and the completeness are wanted */

static bool find_file(void *context, Str name, Str *text, Error *err)
{
    (void)context;
    for (int i = 0; i < kernel_file_count; i++) {
        if (str_equal(str_of(kernel_files[i].name), name)) {
            *text = (Str){kernel_files[i].text, kernel_files[i].length};
            return true;
        }
    }
    return error_set(err, ERROR_INPUT, NULL, "no such kernel file");
}

static bool assemble_kernel(KernelId id, const IsaFlags *flags, Arena *keep, Arena scratch,
                            Object *out, Error *err)
{
    Str file = str_format(&scratch, "%.*s.s", STR_ARG(kernel_of(id)->name)), text;
    if (!find_file(NULL, file, &text, err)) {
        return error_context(err, "%.*s", STR_ARG(file));
    }
    AsmIncludes includes = {.find = find_file};
    AsmOptions options = {.includes = &includes, .flags = flags};
    return asm_assemble(str_copy(file, keep), text, &options, keep, scratch, out, err);
}

bool library_load(const IsaFlags *flags, Arena *keep, Arena scratch, KernelLibrary *out, Error *err)
{
    *out = (KernelLibrary){.objects = arena_array(keep, Object, KERNEL_COUNT), .flags = flags};
    for (int id = 1; id < KERNEL_COUNT; id++) {
        if (!assemble_kernel((KernelId)id, flags, keep, scratch, &out->objects[out->object_count],
                             err)) {
            return false;
        }
        out->object_count++;
    }
    Arena trial = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    Resolved code;
    if (!object_resolve(out->objects, out->object_count, TRIAL_BASE, &trial, scratch, &code, err)) {
        return error_context(err, "kernels");
    }
    out->code_bytes = (uint32_t)code.len;
    for (int id = 1; id < KERNEL_COUNT; id++) {
        Str name = kernel_of((KernelId)id)->name;
        uint32_t address;
        if (!object_find(out->objects, out->object_count, &code, name, &address)) {
            return error_set(err, ERROR_INPUT, "kernels", "%.*s.s does not define the label %.*s",
                             STR_ARG(name), STR_ARG(name));
        }
    }
    return true;
}
