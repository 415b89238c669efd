/*
 * dialogs.js - the dialogs that change something: create, generate and delete universes, add a
 * body, enter a token.
 */

const byId = (id) => document.getElementById(id);

/** Ask before a change that cannot be undone. @returns a promise of true or false */
export function sure(words, verb) {
    const dialog = byId('dialog-sure');
    byId('sure-words').textContent = words;
    byId('sure-yes').textContent = verb;
    dialog.showModal();
    byId('sure-no').focus();
    return new Promise((resolve) => {
        const end = (answer) => {
            byId('sure-yes').onclick = byId('sure-no').onclick = dialog.onclose = null;
            dialog.close();
            resolve(answer);
        };
        byId('sure-yes').onclick = () => end(true);
        byId('sure-no').onclick = () => end(false);
        dialog.onclose = () => end(false);
    });
}

function onSubmit(form, run) {
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        const button = form.querySelector('button:not([type=button])');
        button.disabled = true;
        try {
            await run(Object.fromEntries(new FormData(form)));
        } finally {
            button.disabled = false;
        }
    });
}

/**
 * @param page {api, current(), name(), open(id), remove(id), made(record), say(words, kind),
 *             attempt(task), chosen(), bodies(), fitSoon(), useToken(token)}
 */
export function wireDialogs(page) {
    const manage = byId('dialog-manage'), add = byId('dialog-add');

    byId('manage').addEventListener('click', () => openManage());
    byId('manage-close').addEventListener('click', () => manage.close());
    byId('token').addEventListener('change', (event) => page.useToken(event.target.value));
    byId('form-token').addEventListener('submit', (event) => event.preventDefault());

    onSubmit(byId('form-create'), ({ name }) => page.attempt(async () => {
        const made = await page.api.create(name);
        byId('form-create').reset();
        page.made(made);
        page.open(made.id);
        manage.close();
    }));

    onSubmit(byId('form-generate'), (fields) => page.attempt(async () => {
        const id = page.current();
        if (!id)
            throw new Error('Create a universe first.');
        const config = { seed: fields.seed, stylePreset: fields.stylePreset, topologyPreset: fields.topologyPreset };
        if (fields.maxSystems)
            config.maxSystems = Number(fields.maxSystems);
        if (page.bodies() > 0 && !(await sure(`Replace the ${page.bodies().toLocaleString('en')} bodies of “${page.name()}”?`, 'Replace')))
            return;
        page.fitSoon();
        await page.api.generate(id, config);
        manage.close();
    }));

    byId('delete').addEventListener('click', () => page.attempt(async () => {
        const id = page.current();
        if (id && await sure(`Delete “${page.name()}” for everybody, with its history?`, 'Delete')) {
            await page.remove(id);
            manage.close();
        }
    }));

    byId('add').addEventListener('click', () => openAdd());
    byId('add-close').addEventListener('click', () => add.close());
    onSubmit(byId('form-add'), (fields) => page.attempt(async () => {
        const parent = page.chosen();
        const eccentricity = Number(fields.eccentricity);
        await page.api.command(page.current(), {
            type: 'addStar',
            id: crypto.randomUUID?.() ?? `body-${Date.now()}-${Math.random().toString(36).slice(2)}`,
            payload: {
                name: fields.name, bodyType: fields.bodyType, parentId: parent?.id ?? null, mass: Number(fields.mass),
                radius: Number(fields.radius), color: fields.color.toUpperCase(),
                orbitalDistance: parent ? Number(fields.orbitalDistance) : 0, orbitalSpeed: parent ? Number(fields.orbitalSpeed) : 0,
                ...(parent && eccentricity > 0 ? { eccentricity } : {}),
            },
        });
        add.close();
    }));

    byId('help').addEventListener('click', () => byId('dialog-help').showModal());
    byId('help-close').addEventListener('click', () => byId('dialog-help').close());

    function openManage() {
        byId('generate-name').textContent = page.name() ? `“${page.name()}”` : '';
        byId('delete').disabled = !page.current();
        manage.showModal();
    }

    function openAdd() {
        const parent = page.chosen();
        byId('form-add').elements.parent.value = parent ? parent.name : 'nothing: it is a root';
        add.showModal();
        byId('form-add').elements.name.focus();
    }
    return { openManage, openAdd };
}
