/* Row codec with the lists of a script as separate arguments, for tests that hold them so. */
#pragma once
#include "exchange/exchange.h"

static inline bool encode_lists(const RowSend *sends, isize send_count, const RowControl *controls,
                                isize control_count, Event end, RowWordVec *out, Arena *arena,
                                Event *at)
{
    RowScript script = {.end = end};
    for (isize i = 0; i < send_count; i++) {
        *vec_push(&script.sends, arena) = sends[i];
    }
    for (isize i = 0; i < control_count; i++) {
        *vec_push(&script.controls, arena) = controls[i];
    }
    return row_encode(&script, out, arena, at);
}

static inline bool decode_lists(const uint32_t *words, isize count, RowSendVec *sends,
                                RowControlVec *controls, Event *end, Arena *arena, Error *err)
{
    RowScript script;
    bool ok = row_decode(words, count, &script, arena, err);
    *sends = script.sends;
    *controls = script.controls;
    *end = script.end;
    return ok;
}
