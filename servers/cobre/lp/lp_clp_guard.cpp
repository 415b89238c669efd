/*
 * lp_clp_guard.cpp - what Clp's C interface cannot do: seed its random numbers, copy a model, scale
 * its objective and bounds, and keep its exceptions from C.
 *
 * When pivots look like a cycle, Clp chooses the next refactorisation at random, from a generator
 * that lives as long as the model. So the rounding of a solve would depend on how many draws
 * earlier solves took, and results on which thread ran which solve. Seeding before every solve
 * ends that.
 *
 * Clp throws when it has no memory, and an exception that reaches C ends the process.
 */
#define CLP_EXTERN_C
#include <coin/ClpSimplex.hpp>
#include <coin/Clp_C_Interface.h>

#include "lp/lp_clp_guard.h"

void lp_clp_seed(void *model)
{
    static_cast<Clp_Simplex *>(model)->model_->setRandomSeed(1234567);
}

void *lp_clp_copy(void *model)
{
    Clp_Simplex *copy = Clp_newModel();

    *copy->model_ = *static_cast<Clp_Simplex *>(model)->model_;
    return copy;
}

void lp_clp_scale(void *model, double objective, double bounds)
{
    static_cast<Clp_Simplex *>(model)->model_->setObjectiveScale(objective);
    static_cast<Clp_Simplex *>(model)->model_->setRhsScale(bounds);
}

bool lp_clp_run(void (*work)(void *data), void *data)
try {
    work(data);
    return true;
} catch (...) {
    return false;
}
