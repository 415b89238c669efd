/*
 * share.c - packs what tasks wrote for the other ranks, and unpacks theirs.
 *
 * The bytes of a rank are those that its tasks wrote, in the order in which the pass lists them,
 * then a note for each cut that was tight or active in a solve of one of its workers. A number of
 * tasks, the lists of the pass and the pools are the same on all ranks, so no lengths are sent but
 * the total.
 */
#include "sddp/ranks/share.h"

#include <stdio.h>
#include <string.h>

#include "sddp/ranks/digest.h"

/* What workers noted about a cut. */
typedef struct cut_note {
    uint32_t stage, cut, hits, is_tight;
} cut_note;

/* Takes the spans of a range of tasks: out of the study, or into it. */
struct spans {
    mcp_buf *to;            /* NULL: into the study */
    const char *from, *end; /* what is left to be unpacked */
    bool is_short;
};

void spans_add(spans *all, void *address, size_t bytes)
{
    if (all->to) {
        mcp_buf_append(all->to, address, bytes);
    } else if ((size_t)(all->end - all->from) < bytes) {
        all->is_short = true;
    } else if (bytes > 0) {
        memcpy(address, all->from, bytes);
        all->from += bytes;
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static cut_note note_of(const sddp *s, size_t stage, size_t cut)
{
    cut_note note = { (uint32_t)stage, (uint32_t)cut, 0, 0 };

    for (unsigned i = 0; i < s->threads; i++) {
        const workspace *ws = &s->workers[i].workspaces[stage];
        note.hits += ws->hits[cut];
        note.is_tight |= ws->tight[cut];
    }
    return note;
}

static void pack_notes(const pass *p, mcp_buf *to)
{
    for (size_t t = p->notes_begin; t < p->notes_end; t++)
        for (size_t c = 0; c < study_pool(p->study, t)->count; c++) {
            cut_note note = note_of(p->study, t, c);
            if (note.hits > 0 || note.is_tight)
                mcp_buf_append(to, &note, sizeof note);
        }
}

/* False: a note is of no cut that there is. */
static bool unpack_notes(const pass *p, const char *from, const char *end)
{
    sddp *s = p->study;
    cut_note note;

    for (; (size_t)(end - from) >= sizeof note; from += sizeof note) {
        memcpy(&note, from, sizeof note);
        if (note.stage >= s->stages || note.cut >= study_pool(s, note.stage)->count)
            return false;
        workspace *ws = &s->workers[0].workspaces[note.stage];
        ws->hits[note.cut] += note.hits;
        ws->tight[note.cut] |= note.is_tight != 0;
    }
    return true;
}

/* ---- a pass ---------------------------------------------------------------------------------- */

static void pack(const pass *p, size_t tasks, mcp_buf *to)
{
    const ranks *all = p->study->ranks;
    unsigned own = ranks_own(all);
    spans mine = { .to = to };

    p->outputs(p, ranks_first_task(all, tasks, own), ranks_first_task(all, tasks, own + 1), &mine);
    pack_notes(p, to);
    ranks_pad(to);
}

/* Another's tasks. The padding is shorter than a note. */
static mcp_status unpack(const pass *p, size_t tasks, unsigned rank, const char *from,
                         const char *end, mcp_error *err)
{
    const ranks *all = p->study->ranks;
    spans theirs = { .from = from, .end = end };

    p->outputs(p, ranks_first_task(all, tasks, rank), ranks_first_task(all, tasks, rank + 1),
               &theirs);
    if (!theirs.is_short && unpack_notes(p, theirs.from, end))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_INTERNAL, "what rank %u sent does not fit the %s pass", rank,
                         p->phase);
}

static rank_word word_of(const pass *p, size_t tasks, const pass_end *end)
{
    const sddp *s = p->study;
    rank_word word = { .step = RANK_PASSES,
                       .check = tasks,
                       .stop = atomic_load(&p->is_halted) ? p->halts_at : SDDP_STOP_NONE,
                       .solves = study_own_solves(s),
                       .solver_ns = study_own_solver_ns(s),
                       .fallbacks = study_own_fallbacks(s),
                       .failed = UINT64_MAX };

    if (end->index == SIZE_MAX)
        return word;
    word.failed = end->index;
    word.status = end->status;
    word.where = end->where;
    word.where.phase = word.where.solver_status = NULL; /* addresses of this process */
    if (end->where.solver_status)
        snprintf(word.solver, sizeof word.solver, "%s", end->where.solver_status);
    memcpy(word.message, end->err.message, sizeof word.message);
    return word;
}

/* The constant text of a solver's status. */
static const char *status_name(const char *name)
{
    for (lp_status i = LP_OPTIMAL; i <= LP_NO_MEMORY; i++)
        if (strcmp(lp_status_name(i), name) == 0)
            return lp_status_name(i);
    return NULL;
}

static void take_end(const pass *p, const rank_word *word, pass_end *end)
{
    *end = (pass_end){ (size_t)word->failed, word->status, word->where, MCP_ERROR_INIT };
    end->where.phase = p->phase;
    end->where.solver_status = status_name(word->solver);
    memcpy(end->err.message, word->message, sizeof end->err.message);
}

/* What the words say; whether all ranks have done their part. */
static bool take_words(pass *p, const rank_word *words, pass_end *end)
{
    sddp *s = p->study;

    s->elsewhere_solves = s->elsewhere_solver_ns = s->elsewhere_fallbacks = 0;
    for (unsigned i = 0; i < ranks_count(s->ranks); i++) {
        if (words[i].stop != SDDP_STOP_NONE)
            atomic_store(&p->is_halted, true);
        if (words[i].failed < end->index)
            take_end(p, &words[i], end);
        if (i == ranks_own(s->ranks))
            continue;
        s->elsewhere_solves += words[i].solves;
        s->elsewhere_solver_ns += words[i].solver_ns;
        s->elsewhere_fallbacks += words[i].fallbacks;
    }
    return end->index == SIZE_MAX && !atomic_load(&p->is_halted);
}

mcp_status share_pass(pass *p, size_t tasks, pass_end *end, mcp_error *err)
{
    ranks *all = p->study->ranks;
    const rank_word *words = NULL;
    const char *bytes = NULL;
    const size_t *first = NULL;

    if (!all)
        return MCP_OK;
    if (!p->outputs)
        return mcp_error_set(err, MCP_E_INTERNAL, "the %s pass does not list what it writes",
                             p->phase);
    mcp_buf *own = ranks_own_bytes(all);
    if (end->index == SIZE_MAX && !atomic_load(&p->is_halted))
        pack(p, tasks, own);
    if (own->status != MCP_OK) {
        *end = (pass_end){ ranks_first_task(all, tasks, ranks_own(all)),
                           own->status,
                           { .phase = p->phase, .stage = -1 },
                           MCP_ERROR_INIT };
        mcp_error_set(&end->err, own->status, "no memory for what the ranks exchange");
    }
    rank_word word = word_of(p, tasks, end);
    word.bytes = own->length;
    mcp_status st = ranks_speak(all, &word, &words, err);
    if (st != MCP_OK || !take_words(p, words, end))
        return st;
    st = ranks_gather(all, own, !p->for_first_rank, &bytes, &first, err);
    for (unsigned i = 0; st == MCP_OK && bytes && i < ranks_count(all); i++)
        if (i != ranks_own(all))
            st = unpack(p, tasks, i, bytes + first[i], bytes + first[i + 1], err);
    return st;
}

/* ---- joining --------------------------------------------------------------------------------- */

mcp_status sddp_join(sddp *study, ranks *all, mcp_error *err)
{
    const rank_word *words = NULL;

    if (!all)
        return MCP_OK;
    rank_word word = { .step = RANK_JOINS,
                       .check = digest_of_study(study) ^ (uint64_t)study->scenarios << 16,
                       .threads = study->threads };
    mcp_status st = ranks_speak(all, &word, &words, err);
    study->all_threads = 0;
    for (unsigned i = 0; st == MCP_OK && i < ranks_count(all); i++)
        study->all_threads += words[i].threads;
    study->ranks = st == MCP_OK ? all : NULL;
    return st;
}

/* ---- the training ---------------------------------------------------------------------------- */

/* Of what the next iteration begins with. */
static uint64_t digest_of_policy(const sddp *s)
{
    uint64_t sum = s->completed;

    for (size_t t = 0; t < s->stages; t++) {
        const cut_pool *pool = &s->pools[t];
        sum = digest_add(sum, pool->intercept, pool->count * sizeof *pool->intercept);
        sum = digest_add(sum, pool->set, pool->set_count * sizeof *pool->set);
    }
    return sum;
}

mcp_status share_stop(sddp *study, sddp_stop *stop, int64_t *elapsed_ns, mcp_error *err)
{
    const rank_word *words = NULL;

    if (!study->ranks)
        return MCP_OK;
    rank_word word = { .step = RANK_AGREES,
                       .check = digest_of_policy(study),
                       .stop = *stop,
                       .elapsed_ns = *elapsed_ns };
    mcp_status st = ranks_speak(study->ranks, &word, &words, err);
    if (st != MCP_OK)
        return st;
    *elapsed_ns = words[0].elapsed_ns;
    for (unsigned i = 0; i < ranks_count(study->ranks); i++)
        if (words[i].stop > *stop)
            *stop = words[i].stop;
    return MCP_OK;
}
