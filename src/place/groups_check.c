/* Does a placement of several problems keep to the rules and to their groups? */
#include "place/place.h"

bool place_groups_check(const PlaceProblem *problems, isize count, const PlaceGroup *groups,
                        isize group_count, const PlaceSolution *solutions, Arena scratch,
                        Error *err)
{
    for (isize i = 0; i < count; i++) {
        if (!place_problem_check(&problems[i], &solutions[i], scratch, err)) {
            return error_context(err, "problem %td", i);
        }
    }
    for (isize i = 0; i < group_count; i++) {
        for (int32_t k = 1; k < groups[i].count; k++) {
            PlaceMember a = groups[i].members[0], b = groups[i].members[k];
            uint32_t at = solutions[a.problem].address[a.request];
            if (solutions[b.problem].address[b.request] != at) {
                return error_set(err, ERROR_NO, NULL,
                                 "group %td: request %d of problem %d lies at 0x%x, request %d of "
                                 "problem %d at 0x%x",
                                 i, b.request, b.problem, solutions[b.problem].address[b.request],
                                 a.request, a.problem, at);
            }
        }
    }
    return true;
}
