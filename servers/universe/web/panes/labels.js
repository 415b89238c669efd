/*
 * labels.js - the names in the picture: elements that are used again in every frame, and changed
 * only where they differ.
 */
export class Labels {
    #pool = [];

    constructor(element) {
        this.element = element;
    }

    /** @param list {id, x, y, name, kind} of each name; @param chosen the id of the selected
     *  body */
    draw(list, chosen) {
        while (this.#pool.length < list.length) {
            const span = document.createElement('span');
            this.element.append(span);
            this.#pool.push({ span, name: '', kind: '', isChosen: false, isHidden: false });
        }
        this.#pool.forEach((label, i) => this.#write(label, list[i], chosen));
    }

    #write(label, item, chosen) {
        if (label.isHidden !== !item)
            label.span.hidden = label.isHidden = !item;
        if (!item)
            return;
        if (label.name !== item.name)
            label.span.textContent = label.name = item.name;
        if (label.kind !== item.kind)
            label.span.dataset.kind = label.kind = item.kind;
        if (label.isChosen !== (item.id === chosen))
            label.span.classList.toggle('chosen', label.isChosen = item.id === chosen);
        label.span.style.transform = `translate(${item.x.toFixed(1)}px, ${(item.y - 8).toFixed(1)}px)`;
    }
}
