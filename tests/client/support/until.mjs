/*
 * until.mjs - waiting for a condition.
 */
import assert from 'node:assert/strict';

const DEADLINE_MS = 60_000; /* for a program that hangs; a loaded machine is slow, not wrong */

/** Wait until `condition` gives something true, and return that. */
export async function until(condition, what, deadlineMs = DEADLINE_MS) {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
        const met = await condition();
        if (met)
            return met;
        assert.ok(Date.now() < deadline, `waited ${deadlineMs / 1000} s for: ${what}`);
        await new Promise((resolve) => { setTimeout(resolve, 10); });
    }
}
