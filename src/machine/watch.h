/* Checks that look at every instruction and every access (race, code, buffers): what the hardware does not notice.
 *
 * A Watch belongs to a host thread and watches one tile from one barrier to the next; what must last longer (which words are
 * code, which buffers a call has) is in the WatchSet. Exec.watch is NULL when none of these checks is on: then nothing here runs.
 * Private to the room.
 */
#pragma once
#include "machine/tile.h"

struct Exec;
struct Op;

enum { WATCHED_CHECKS = CHECK_RACE | CHECK_CODE | CHECK_BUFFERS };
/* Registers of a worker by number: main from 0, aux from WATCH_AUX; without storage: WATCH_NOWHERE. */
enum { WATCH_AUX = 16, WATCH_NOWHERE = 31 };

/* For `threads` host threads. */
struct WatchSet *watch_create(uint32_t checks, int threads);
void watch_destroy(struct WatchSet *set);
/* Takes code segments, calls and their buffers from a package; copies what it needs. */
void watch_describe(struct WatchSet *set, const Package *package);
/* Words that are code, as the check `code` sees it. */
void watch_mark_code(struct WatchSet *set, PhysTile tile, uint32_t address, uint32_t bytes);
/* The watch of a thread that is about to run `tile`, which it forgets all others for. */
struct Watch *watch_begin(struct WatchSet *set, int thread, const TileState *tile);

/* Before an instruction (of a bundle: its main half) executes. False: fault. */
bool watch_issue(struct Exec *x, const struct Op *op);
/* Behind watch_issue: the word that the undefined register of the instruction was loaded from; 0: not known. */
uint32_t watch_undefined_from(const struct Watch *watch);
/* `words` words are loaded into registers from `reg` on. A fault shows in the tile only. */
void watch_load(struct Exec *x, uint32_t address, uint32_t words, uint32_t reg);
/* False: fault. */
bool watch_store(struct Exec *x, uint32_t address, uint32_t words);
