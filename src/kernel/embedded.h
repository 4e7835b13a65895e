/* Kernel sources compiled into the binary (generated from kernels/ by tools/embed.sh). */
#pragma once

typedef struct EmbeddedFile {
    const char *name;
    const char *text;
    long length;
} EmbeddedFile;

extern const EmbeddedFile kernel_files[];
extern const int kernel_file_count;
