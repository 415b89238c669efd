/*
 * schemas.mjs - holds messages of a server against the official schema of their revision.
 *
 * The schemas stand in the conformance suite's bundle as object literals; they are cut out of it
 * and read when a test runs. 2024-11-05 is not among them and is held against 2025-03-26, whose
 * additions are all optional. In a message that the server sends, the type is known by its method,
 * or for a response by the method of the request that it answers.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
    CancelTaskResultV2Schema, CompletedTaskV2Schema, CreateTaskResultV2Schema, GetTaskResultV2Schema,
    TaskStatusNotificationV2Schema, UpdateTaskResultV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2';

import { top } from './everything.mjs';

const BUNDLE = path.join(top, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/* In the bundle's order; a definition that came with the revision proves that the order holds. */
const REVISIONS = [
    ['2025-03-26', 'AudioContent'], ['2025-06-18', 'ResourceLink'], ['2025-11-25', 'Task'],
    ['2026-07-28', 'DiscoverRequest'],
];

const EMPTY = new Set(['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);
const ERRORS = {
    '-32020': 'HeaderMismatchError', '-32021': 'MissingRequiredClientCapabilityError',
    '-32022': 'UnsupportedProtocolVersionError',
};

/* The extension's results, by the method that they answer. */
const TASK_RESULTS = {
    'tasks/get': GetTaskResultV2Schema, 'tasks/update': UpdateTaskResultV2Schema,
    'tasks/cancel': CancelTaskResultV2Schema,
};

/** The object literal that begins at `start`: braces are counted outside of strings. */
function literal(text, start) {
    let depth = 0;
    for (let i = start; i < text.length; i++) {
        if ('`\'"'.includes(text[i])) {
            const quote = text[i];
            for (i++; text[i] !== quote; i++)
                i += text[i] === '\\';
        } else if (text[i] === '{') {
            depth++;
        } else if (text[i] === '}' && --depth === 0) {
            return text.slice(start, i + 1);
        }
    }
    throw new Error('a schema of the bundle does not end');
}

/* Numbers there are whole and never null, which is no rule of the protocol but an error of the
 * generator. */
function mend(schema) {
    const types = schema.JSONValue?.anyOf?.find((one) => Array.isArray(one.type))?.type ?? schema.JSONValue?.type;
    if (Array.isArray(types))
        types.push(...['number', 'null'].filter((type) => !types.includes(type)));
    for (const bound of ['minimum', 'maximum', 'default']) {
        if (schema.NumberSchema?.properties?.[bound]?.type === 'integer')
            schema.NumberSchema.properties[bound].type = 'number';
    }
}

function readSchemas() {
    const text = readFileSync(BUNDLE, 'utf8');
    const starts = [...text.matchAll(/\{\$schema:`https?:\/\/json-schema\.org\/[^`]*`,(?:definitions|\$defs):\{Annotations:/g)];
    assert.equal(starts.length, REVISIONS.length, 'the suite\'s bundle does not hold the schemas where they were');
    return new Map(starts.map((start, index) => {
        const [revision, proof] = REVISIONS[index];
        const schema = JSON.parse(JSON.stringify(vm.runInNewContext(`(${literal(text, start.index)})`)));
        const types = schema.definitions ?? schema.$defs;
        assert.ok(types[proof], `${proof} is not in what should be the schema of ${revision}`);
        mend(types);
        return [revision, { schema, types, where: schema.definitions ? 'definitions' : '$defs' }];
    }));
}

const schemas = readSchemas();
const validators = new Map();

function compiler(revision) {
    const Kind = schemas.get(revision).where === '$defs' ? Ajv2020 : Ajv;
    const ajv = new Kind({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addFormat('byte', true);
    ajv.addSchema(schemas.get(revision).schema, revision);
    return ajv;
}

function validator(revision, type) {
    const { types, where } = schemas.get(revision);
    const key = `${revision}#/${where}/${type}`;
    if (!types[type])
        return null;
    if (!validators.has(revision))
        validators.set(revision, compiler(revision));
    if (!validators.has(key))
        validators.set(key, validators.get(revision).compile({ $ref: key }));
    return validators.get(key);
}

function faults(revision, type, value) {
    const check = validator(revision, type);
    if (!check)
        return [`${revision} has no type ${type}`];
    return check(value) ? [] : check.errors.map((error) => `${type}${error.instancePath}: ${error.message}`);
}

/** The name of the type whose `method` is this one. */
function typeOfMethod(revision, method) {
    const { types } = schemas.get(revision);
    return Object.keys(types).find((name) => types[name].properties?.method?.const === method);
}

/** The type of a result, by the method that it answers. Null: not in the core schema. */
function typeOfResult(revision, method, result) {
    if (result.resultType === 'input_required')
        return 'InputRequiredResult';
    if (revision >= '2026-07-28' && (result.resultType === 'task' || method in TASK_RESULTS))
        return null;
    if (result.task !== undefined && revision === '2025-11-25')
        return 'CreateTaskResult';
    if (method === 'tasks/result')
        return 'CallToolResult';
    if (EMPTY.has(method))
        return 'EmptyResult';
    return typeOfMethod(revision, method)?.replace(/Request$/, 'Result') ?? 'Result';
}

/** What is wrong by the extension for tasks, whose schemas stand in a package of their own. */
function extensionFaults(schema, value) {
    const checked = schema.safeParse(value);
    return checked.success ? [] : checked.error.issues.map((issue) => `task/${issue.path.join('/')}: ${issue.message}`);
}

/* Those schemas let unknown members pass: names of the older form, and what belongs to other
 * results. */
function strayFaults(result) {
    return ['task', 'ttl', 'pollInterval', 'requestState'].filter((name) => name in result)
        .map((name) => `task: ${name} does not belong there`);
}

function taskFaults(method, result) {
    const schema = result.resultType === 'task' ? CreateTaskResultV2Schema : TASK_RESULTS[method];
    const inner = result.status === 'completed' && method === 'tasks/get'
        ? faults('2026-07-28', 'CallToolResult', CompletedTaskV2Schema.parse(result).result) : [];
    return [...extensionFaults(schema, result), ...strayFaults(result), ...inner];
}

function resultFaults(revision, message, method) {
    const type = typeOfResult(revision, method, message.result);
    const envelope = revision < '2025-11-25' ? 'JSONRPCResponse' : 'JSONRPCResultResponse';
    return [...faults(revision, envelope, message),
        ...type ? faults(revision, type, message.result) : taskFaults(method, message.result)];
}

function errorFaults(revision, message) {
    /* what was sent had no readable id: JSON-RPC says null */
    if (message.id === null || message.id === undefined)
        message = { ...message, id: 0 };
    if (revision >= '2026-07-28' && ERRORS[message.error.code])
        return faults(revision, ERRORS[message.error.code], message);
    return faults(revision, revision < '2025-11-25' ? 'JSONRPCError' : 'JSONRPCErrorResponse', message);
}

/**
 * What is wrong with a message that a server sent; an empty list where nothing is.
 *
 * @param revision under which it was sent
 * @param methods  id (as JSON) of each request of the client's to its method
 */
export function messageFaults(revision, message, methods) {
    const known = revision === '2024-11-05' ? '2025-03-26' : revision;

    if (Array.isArray(message))
        return message.flatMap((one) => messageFaults(revision, one, methods));
    if (message.method !== undefined) {
        const type = typeOfMethod(known, message.method);
        if (type === undefined)
            return message.method === 'notifications/tasks' && revision >= '2026-07-28'
                ? extensionFaults(TaskStatusNotificationV2Schema, message)
                : [`${revision} has no method ${message.method}`];
        return faults(known, type, message);
    }
    return message.error !== undefined ? errorFaults(known, message)
        : resultFaults(known, message, methods.get(JSON.stringify(message.id)));
}
