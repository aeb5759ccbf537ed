import {
  createConnectionShadow,
  createConnectionStep,
  createShadowStep,
} from '../pipeline/shadow/create-shadow-step.ts'
import { awsSigner, azureToken, gcpToken } from '../credentials/credentials.ts'
import type { AttachedPolicy, BackendTarget, Ir, ListenerProtocol } from '../ir/resources.ts'
import { hasShadows, networkShadows } from '../ir/shadow-policies.ts'
import { createProcessCalls } from '../mcp/hub/hub-client.ts'
import { later, type Loadable, loadablesIn } from '../pipeline/compiled/later.ts'
import type { CompiledRoute } from '../pipeline/compiled/compiled.ts'
import { backendSteps, trafficSteps } from '../policies/order.ts'
import { createKeyGate } from '../policies/traffic/api-key-authentication/key-gate.ts'

// The code for language models is a third of all code; a gateway that only routes HTTP starts faster without it.
export const compileAi = later(async () => (await import('./ai.ts')).compileAi)
export const createModelRouter = later(
  async () => (await import('../backends/ai/models/create-router.ts')).createModelRouter,
)
export const compileMcp = later(async () => (await import('./mcp.ts')).compileMcp)
export const compilePool = later(async () => (await import('./pool.ts')).compilePool)
export const createPricer = later(async () => (await import('../prices/create-pricer.ts')).createPricer)
export const createResponseCache = later(
  async () => (await import('../cache/create-response-cache.ts')).createResponseCache,
)
export const createMemoryBudgets = later(async () => {
  const { SharedMemoryBudgets } = await import('../stores/budgets/shared-memory-budgets.ts')
  return (...parts: ConstructorParameters<typeof SharedMemoryBudgets>) => new SharedMemoryBudgets(...parts)
})
export const rehearsedBackend = later(
  async () => (await import('../pipeline/call/rehearsed-backend.ts')).rehearsedBackend,
)
export const createRetryBudget = later(
  async () => (await import('../policies/backend/retry-budget/retry-budget.ts')).createRetryBudget,
)
export const backendSessions = later(
  async () => (await import('../policies/backend/session-persistence/step.ts')).backendSessions,
)
export const otlpLog = later(async () => (await import('../policies/frontend/access-log/otlp.ts')).otlpLog)
export const requestTracing = later(
  async () => (await import('../policies/frontend/tracing/tracing.ts')).requestTracing,
)
export const metricsDelivery = later(async () => (await import('../policies/frontend/metrics/otlp.ts')).metricsDelivery)
const tlsListener = () => import('@portico/http/tls-listener')
export const acceptTls = later(async () => (await tlsListener()).acceptTls<string>)
export const createServerTls = later(async () => (await tlsListener()).createServerTls)
export const compileUdpBind = later(async () => (await import('./udp-bind.ts')).compileUdpBind)
export const createDelegatingTable = later(
  async () => (await import('../pipeline/route/delegating-table.ts')).createDelegatingTable<CompiledRoute>,
)
export const hboneEntrance = later(async () => (await import('./hbone.ts')).hboneEntrance)
export const createSeal = later(async () => (await import('../state/seal.ts')).createSeal)
// Code that loads all features iterates over the exports of this module.
export {
  awsSigner,
  azureToken,
  createKeyGate,
  createConnectionShadow,
  createConnectionStep,
  createProcessCalls,
  createShadowStep,
  gcpToken,
}

const laterTraffic = loadablesIn(trafficSteps)
const laterBackend = loadablesIn(backendSteps)
const laterTrafficByName = new Map(laterTraffic)
const laterBackendByName = new Map(laterBackend)
const laterAuth = laterBackendByName.get('auth')
const WITH_OWN_POLICIES = new Set<string>(['ai', 'mcp', 'agentCore'])

/** Loads the lazy features that this config needs; must be awaited before the config is compiled. */
export async function loadFeatures(ir: Ir): Promise<void> {
  const needed = new Set<Loadable>()
  if (ir.listeners.some(({ protocol, tls }) => needsTls(protocol) || tls !== null)) {
    needed.add(acceptTls).add(createServerTls)
  }
  if (ir.listeners.some(({ protocol }) => protocol === 'UDP')) needed.add(compileUdpBind)
  if (ir.listeners.some(({ protocol }) => protocol === 'HBONE')) needed.add(hboneEntrance)
  if (ir.routes.some(({ delegates }) => delegates)) needed.add(createDelegatingTable)
  for (const { target } of ir.backends) {
    if (hasPool(target)) needed.add(compilePool)
    if (target.kind === 'ai' && target.models !== undefined) needed.add(createModelRouter)
    if (target.kind === 'ai') needed.add(compileAi).add(createSeal)
    else if (target.kind === 'mcp') needed.add(compileMcp).add(createProcessCalls)
    // Cloud services need credentials by default, and guards have their own policies.
    if (WITH_OWN_POLICIES.has(target.kind)) for (const [, step] of laterBackend) needed.add(step)
  }
  for (const policy of ir.policies) addNeeds(policy, needed)
  if (laterAuth !== undefined && needed.has(laterAuth)) needed.add(awsSigner).add(azureToken).add(gcpToken)
  for (const part of needed) await part.load()
}

function hasPool(target: BackendTarget): boolean {
  if (target.kind === 'ai') return target.groups.flat().some(({ config }) => config.inferencePool !== undefined)
  return target.kind === 'inferencePool'
}

function needsTls(protocol: ListenerProtocol): boolean {
  return protocol === 'HTTPS' || protocol === 'TLS' || protocol === 'HBONE'
}

function addNeeds(
  { frontend, traffic, backend }: Pick<AttachedPolicy, 'frontend' | 'traffic' | 'backend'>,
  needed: Set<Loadable>,
): void {
  if (frontend?.accessLog?.otlp !== undefined) needed.add(otlpLog)
  if (frontend?.tracing !== undefined) needed.add(requestTracing)
  if (frontend?.metrics?.otlp !== undefined) needed.add(metricsDelivery)
  if (traffic?.apiKeyAuthentication?.store !== undefined) needed.add(createKeyGate).add(createMemoryBudgets)
  if (traffic?.budget !== undefined) needed.add(createMemoryBudgets)
  if (traffic?.sessionPersistence !== undefined) needed.add(createSeal)
  if (backend?.prices !== undefined) needed.add(createPricer).add(createMemoryBudgets)
  if (backend?.ai?.cache !== undefined) needed.add(createResponseCache)
  if (backend?.rehearsal !== undefined) needed.add(rehearsedBackend)
  if (backend?.retryBudget !== undefined) needed.add(createRetryBudget)
  if (backend?.sessionPersistence !== undefined) needed.add(createSeal).add(backendSessions)
  if (frontend !== null && networkShadows([{ frontend }]).length > 0) {
    needed.add(createConnectionShadow).add(createConnectionStep)
  }
  if (traffic !== null && hasShadows(traffic)) {
    needed.add(createShadowStep).add(createConnectionShadow)
    if (traffic.shadow !== undefined) addNeeds({ frontend: null, traffic: traffic.shadow, backend: null }, needed)
  }
  if (traffic !== null) addSteps(traffic, laterTrafficByName, needed)
  if (backend !== null) addSteps(backend, laterBackendByName, needed)
}

function addSteps(
  policies: Readonly<Record<string, unknown>>,
  steps: ReadonlyMap<string, Loadable>,
  needed: Set<Loadable>,
): void {
  for (const name in policies) {
    const step = steps.get(name)
    if (step !== undefined && policies[name] !== undefined) needed.add(step)
  }
}
