import type { compileAi } from './ai.ts'
import type { compileMcp } from './mcp.ts'
import type { metricsDelivery } from '../policies/frontend/metrics/otlp.ts'
import type { otlpLog } from '../policies/frontend/access-log/otlp.ts'
import type { requestTracing } from '../policies/frontend/tracing/tracing.ts'
import type { Ir } from '../ir/resources.ts'
import type { createSeal } from '../state/seal.ts'

/**
 * Parts of the program that most configs do not need, loaded before the first config that does: calling language models
 * takes a third of all code, and whoever only routes HTTP starts faster without it.
 */
const loaded: {
  ai: typeof compileAi | null
  mcp: typeof compileMcp | null
  otlp: typeof otlpLog | null
  tracing: typeof requestTracing | null
  metrics: typeof metricsDelivery | null
  seal: typeof createSeal | null
} = {
  ai: null,
  mcp: null,
  otlp: null,
  tracing: null,
  metrics: null,
  seal: null,
}

/** Must be awaited before a config is compiled. */
export async function loadFeatures(ir: Ir): Promise<void> {
  const needs = (kind: 'ai' | 'mcp'): boolean => ir.backends.some(({ target }) => target.kind === kind)
  if (needs('ai')) loaded.ai ??= (await import('./ai.ts')).compileAi
  if (needs('mcp')) loaded.mcp ??= (await import('./mcp.ts')).compileMcp
  const exportsLogs = ir.policies.some(({ frontend }) => frontend?.accessLog?.otlp !== undefined)
  if (exportsLogs) loaded.otlp ??= (await import('../policies/frontend/access-log/otlp.ts')).otlpLog
  const exportsSpans = ir.policies.some(({ frontend }) => frontend?.tracing !== undefined)
  if (exportsSpans) loaded.tracing ??= (await import('../policies/frontend/tracing/tracing.ts')).requestTracing
  const pushesMetrics = ir.policies.some(({ frontend }) => frontend?.metrics?.otlp !== undefined)
  if (pushesMetrics) loaded.metrics ??= (await import('../policies/frontend/metrics/otlp.ts')).metricsDelivery
  const isSticky = ir.policies.some(({ traffic }) => traffic?.sessionPersistence !== undefined)
  if (isSticky) loaded.seal ??= (await import('../state/seal.ts')).createSeal
}

export function loadedSeal(): typeof createSeal {
  if (loaded.seal === null) throw new Error('loadFeatures was not awaited')
  return loaded.seal
}

export function loadedOtlp(): typeof otlpLog {
  if (loaded.otlp === null) throw new Error('loadFeatures was not awaited')
  return loaded.otlp
}

export function loadedTracing(): typeof requestTracing {
  if (loaded.tracing === null) throw new Error('loadFeatures was not awaited')
  return loaded.tracing
}

export function loadedMetrics(): typeof metricsDelivery {
  if (loaded.metrics === null) throw new Error('loadFeatures was not awaited')
  return loaded.metrics
}

export function loadedMcp(): typeof compileMcp {
  if (loaded.mcp === null) throw new Error('loadFeatures was not awaited')
  return loaded.mcp
}

export function loadedAi(): typeof compileAi {
  if (loaded.ai === null) throw new Error('loadFeatures was not awaited')
  return loaded.ai
}
