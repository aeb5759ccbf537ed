import type { ViewedError } from '../../admin/config-view.ts'
import type { Ir } from '../../ir/resources.ts'
import type { RecordStore } from '../../telemetry/recorder/record-store.ts'

/**
 * The errors of MCP targets that failed in the newest recorded request to them; only the newest few thousand records are
 * searched. A target that responds has not failed, even if a tool is unknown or returns an error.
 */
export function targetErrors(
  { backends }: Ir,
  store: RecordStore,
): (backend: string, target: string) => ViewedError | null {
  const wanted = new Set(
    backends.flatMap(({ key, target }) =>
      target.kind === 'mcp' ? target.targets.map(({ name }) => keyOf(key, name)) : [],
    ),
  )
  const found = new Map<string, ViewedError>()
  for (const stored of wanted.size === 0 ? [] : store.all().slice(0, MOST)) {
    const record = stored.decode()
    if (record === null || record.mcp === null) continue
    const { target, outcome, errorMessage, failure } = record.mcp
    const key = keyOf(record.keys.backend ?? '', target === '' ? (failure?.target ?? '') : target)
    // A denial by the gateway says nothing about the target.
    if (outcome === 'denied' || outcome === 'cancelled' || !wanted.delete(key)) continue
    if (outcome !== 'unavailable' || failure?.cause === 'error_response') continue
    const message = errorMessage === '' ? (record.error ?? '') : errorMessage
    found.set(key, { at: record.at, request: record.id, outcome: outcome ?? '', message })
    if (wanted.size === 0) break
  }
  return (backend, target) => found.get(keyOf(backend, target)) ?? null
}

const MOST = 5000

function keyOf(backend: string, target: string): string {
  return JSON.stringify([backend, target])
}
