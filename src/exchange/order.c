/* In which order messages are placed (exchange-scheduling.md 4.2, in a simple form).
 *
 * Two list schedules are built and the shorter one is kept, because no rule dominates (exchange-scheduling.md 5.1):
 *   by load:   the message whose busiest endpoint has most to do first, at the earliest hole that takes it;
 *   by sender: the sender that can start earliest chooses, among its next few messages, the one that can start first.
 * After each rule the messages are placed again in order of their starts, which closes holes that were left on the way.
 */
#include "exchange/phase.h"
#include <string.h>

enum {
    CANDIDATES_MAX = 16,            /* messages a sender looks at */
    CANDIDATE_RECEIVERS = 512,      /* ... unless they have many receivers */
    EVALUATIONS_PER_ENDPOINT = 160, /* after that a sender no longer waits for others */
    BY_SENDER_MESSAGES_MAX = 40000, /* the second rule costs some 50 us a message */
    CLOSE_ENOUGH = 64,              /* stop within 1/64 of the lower bound */
    EVENT_LIMIT = INT32_MAX / 2,
};

/* Larger key: more urgent. The load of the busiest endpoint, then the length. */
static uint64_t urgency_of(const Phase *phase, int32_t message)
{
    const Message *m = &phase->messages[message];
    int64_t load = phase->lanes[m->lane].send_words;
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        load = max_i64(load, phase->lanes[phase->endpoints[i].lane].receive_words);
    }
    return (uint64_t)min_i64(load, INT64_MAX >> 16) << 13 | (uint64_t)m->words;
}

/* Messages by urgency, most urgent first, then by index. */
static SortKey *order_by_load(const Phase *phase, Arena *arena)
{
    SortKey *order = arena_array(arena, SortKey, phase->message_count);
    for (int32_t i = 0; i < phase->message_count; i++) {
        order[i] = (SortKey){~urgency_of(phase, i), (uint32_t)i};
    }
    sort_keys(order, phase->message_count, *arena);
    return order;
}

static void place_in_order(Phase *phase, const SortKey *order)
{
    phase_reset(phase);
    for (int32_t i = 0; i < phase->message_count; i++) {
        int32_t message = (int32_t)order[i].payload;
        phase_place(phase, message, phase_earliest(phase, message, 0, EVENT_LIMIT));
    }
}

/* A sender waiting for its turn; `left` are its unplaced messages, most urgent first. */
typedef struct Sender {
    int32_t *left;
    int32_t count;
    Event ready; /* no message of this sender can start earlier */
} Sender;

typedef struct SenderHeap {
    int32_t *at; /* lane indices */
    int32_t len;
    const Sender *senders;
    const Lane *lanes;
} SenderHeap;

/* Earlier first, then more left to send, then lower lane. */
static bool comes_before(const SenderHeap *heap, int32_t a, int32_t b)
{
    if (heap->senders[a].ready != heap->senders[b].ready) {
        return heap->senders[a].ready < heap->senders[b].ready;
    }
    if (heap->lanes[a].send_left != heap->lanes[b].send_left) {
        return heap->lanes[a].send_left > heap->lanes[b].send_left;
    }
    return a < b;
}

static void sift_down(SenderHeap *heap, int32_t at)
{
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= heap->len) {
            return;
        }
        if (child + 1 < heap->len && comes_before(heap, heap->at[child + 1], heap->at[child])) {
            child++;
        }
        if (!comes_before(heap, heap->at[child], heap->at[at])) {
            return;
        }
        int32_t held = heap->at[at];
        heap->at[at] = heap->at[child];
        heap->at[child] = held;
        at = child;
    }
}

/* Position in sender->left of the message that can start first; *start is when. */
static int32_t choose_message(const Phase *phase, const Sender *sender, Event from, Event *start,
                              int64_t *work)
{
    int32_t best = -1, receivers = 0;
    Event best_start = EVENT_LIMIT;
    for (int32_t i = 0;
         i < sender->count && i < CANDIDATES_MAX && (i == 0 || receivers < CANDIDATE_RECEIVERS);
         i++) {
        Event at = phase_earliest(phase, sender->left[i], from, best_start);
        if (at < best_start) {
            best = i;
            best_start = at;
        }
        receivers += phase->messages[sender->left[i]].count;
        if (at == from) {
            break;
        }
    }
    *work += receivers;
    *start = best_start;
    return best;
}

static void place_by_sender(Phase *phase, const SortKey *order, Arena scratch)
{
    phase_reset(phase);
    Sender *senders = arena_array(&scratch, Sender, phase->lane_count);
    SenderHeap heap = {.at = arena_array(&scratch, int32_t, phase->lane_count),
                       .senders = senders,
                       .lanes = phase->lanes};
    int32_t *left = arena_array(&scratch, int32_t, phase->message_count);
    int64_t endpoints = 0;
    for (int32_t i = 0; i < phase->message_count; i++) {
        senders[phase->messages[i].lane].count++;
        endpoints += phase->messages[i].count;
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        senders[i].left = left;
        left += senders[i].count;
        if (senders[i].count > 0) {
            heap.at[heap.len++] = i;
        }
        senders[i].count = 0;
    }
    for (int32_t i = 0; i < phase->message_count; i++) {
        Sender *sender = &senders[phase->messages[order[i].payload].lane];
        sender->left[sender->count++] = (int32_t)order[i].payload;
    }
    for (int32_t i = heap.len / 2; i-- > 0;) {
        sift_down(&heap, i);
    }
    int64_t work = 0;
    while (heap.len > 0) {
        int32_t lane = heap.at[0];
        Sender *sender = &senders[lane];
        const Lane *state = &phase->lanes[lane];
        Event from = 0, start;
        if (state->send_count > 0) {
            const Slot *last = &state->sends[state->send_count - 1];
            from = last->begin + last->words;
        }
        int32_t chosen = choose_message(phase, sender, from, &start, &work);
        ASSERT(chosen >= 0);
        if (start > sender->ready && work < EVALUATIONS_PER_ENDPOINT * endpoints) {
            sender->ready = start; /* somebody else may come first */
            sift_down(&heap, 0);
            if (heap.at[0] != lane) {
                continue;
            }
        }
        phase_place(phase, sender->left[chosen], start);
        memmove(&sender->left[chosen], &sender->left[chosen + 1],
                (size_t)(sender->count - chosen - 1) * sizeof *sender->left);
        sender->count--;
        sender->ready = start + 1;
        if (sender->count == 0) {
            heap.at[0] = heap.at[--heap.len];
        }
        sift_down(&heap, 0);
    }
}

/* Places again in order of start, at the earliest hole each. */
static void place_again(Phase *phase, Arena scratch)
{
    SortKey *order = arena_array(&scratch, SortKey, phase->message_count);
    for (int32_t i = 0; i < phase->message_count; i++) {
        order[i] = (SortKey){(uint64_t)phase->start[i], (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
    place_in_order(phase, order);
}

/* Orders of an attempt; each is followed by place_again. */
typedef enum Rule { BY_LOAD = 0, BY_SENDER, RULES } Rule;

void phase_schedule(Phase *phase, Event bound, Arena scratch)
{
    SortKey *order = order_by_load(phase, &scratch);
    Event *best = arena_array(&scratch, Event, phase->message_count);
    Event best_horizon = EVENT_LIMIT;
    for (int attempt = 0; attempt < 2 * RULES && best_horizon > bound + bound / CLOSE_ENOUGH;
         attempt++) {
        Rule rule = (Rule)(attempt / 2);
        if (rule == BY_SENDER && phase->message_count > BY_SENDER_MESSAGES_MAX) {
            break;
        }
        if (attempt % 2 == 1) {
            place_again(phase, scratch);
        } else if (rule == BY_LOAD) {
            place_in_order(phase, order);
        } else {
            place_by_sender(phase, order, scratch);
        }
        Event horizon = phase_horizon(phase);
        if (horizon < best_horizon) {
            best_horizon = horizon;
            memcpy(best, phase->start, (size_t)phase->message_count * sizeof *best);
        }
    }
    for (int32_t i = 0; i < phase->message_count;
         i++) { /* in order of start, so that slots are only appended */
        order[i] = (SortKey){(uint64_t)best[i], (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
    phase_reset(phase);
    for (int32_t i = 0; i < phase->message_count; i++) {
        phase_place(phase, (int32_t)order[i].payload, best[order[i].payload]);
    }
}
