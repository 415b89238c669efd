/*
 * agents.js - agents: which are registered, whether they are alive, what they may do.
 */
import { box, chip, facts, h, moment, oneLine } from '../text.js';

export function agents({ api }) {
    const nameOf = (agent) => agent.name ?? agent.displayName ?? agent.agentId;
    return {
        name: 'agents', title: 'Agents', empty: 'No agent is registered.',
        key: (agent) => agent.agentId,
        row: (agent) => [h('b', {}, oneLine(nameOf(agent))), h('span', { class: 'sub' }, chip(agent.liveness ?? 'unknown'), ` ${oneLine(agent.policyTier ?? '')} `, agent.lastHeartbeatAtIso ? moment(agent.lastHeartbeatAtIso) : 'no heartbeat yet')],
        list: (pages) => api.list('/agents', pages),
        async detail(id) {
            const agent = await api.get(`/agents/${encodeURIComponent(id)}`);
            return [h('header', {}, h('h2', { class: 'text' }, nameOf(agent)), chip(agent.liveness ?? 'unknown')),
                facts([['Agent', h('code', {}, oneLine(agent.agentId))], ['Machine', agent.machineId], ['Tier', agent.policyTier], ['Last heartbeat', agent.lastHeartbeatAtIso ? moment(agent.lastHeartbeatAtIso) : 'none']]),
                h('h3', {}, 'Capabilities'), box(agent.allowedCapabilities ?? agent.capabilities ?? []), agent.allowedTools ? [h('h3', {}, 'Tools'), box(agent.allowedTools)] : null].flat();
        },
    };
}
