/*
 * best.js - keeps the best few of many. The kept ones are a heap in typed arrays, with the worst on
 * top. A choice among a hundred thousand allocates nothing, and sorts only the kept ones.
 */
export class Best {
    constructor(most) {
        this.most = most;
        this.scores = new Float32Array(most);
        this.slots = new Int32Array(most);
        this.count = 0;
    }

    clear() {
        this.count = 0;
    }

    offer(slot, score) {
        if (this.count < this.most)
            this.#rise(this.count++, slot, score);
        else if (score > this.scores[0])
            this.#sink(this.count, slot, score);
    }

    #rise(at, slot, score) {
        while (at > 0) {
            const up = (at - 1) >> 1;
            if (this.scores[up] <= score)
                break;
            this.#put(at, this.slots[up], this.scores[up]);
            at = up;
        }
        this.#put(at, slot, score);
    }

    #sink(count, slot, score) {
        let at = 0;
        for (;;) {
            let down = at * 2 + 1;
            if (down + 1 < count && this.scores[down + 1] < this.scores[down])
                down++;
            if (down >= count || this.scores[down] >= score)
                break;
            this.#put(at, this.slots[down], this.scores[down]);
            at = down;
        }
        this.#put(at, slot, score);
    }

    #put(at, slot, score) {
        this.slots[at] = slot;
        this.scores[at] = score;
    }

    /** The slots, the best first. The heap is empty afterwards. */
    take() {
        const { count } = this, out = new Int32Array(count);
        for (let left = count - 1; left >= 0; left--) {
            out[left] = this.slots[0];
            this.#sink(left, this.slots[left], this.scores[left]);
        }
        this.count = 0;
        return out;
    }
}
