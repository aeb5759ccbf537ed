import { type DescribedBackends, targetName, urlBackend } from '../../ir/backend-targets.ts'
import type { BackendReference } from '../../schema/kit.ts'
import { didYouMean } from '../../formats/suggest.ts'
import type { FoundReference } from './references.ts'
import type { Report } from './report.ts'
import type { Spot } from './tree.ts'

type FoundBackend = FoundReference<BackendReference>

/** Checks that every referenced backend exists. */
export function checkBackendNames(
  found: readonly FoundBackend[],
  backendsByName: ReadonlyMap<string, Spot>,
  report: Report,
): void {
  for (const { spot, refers } of found) {
    const located = refers.locate(spot.value)
    if (located?.kind !== 'name') continue
    const backend = backendsByName.get(located.name)
    if (backend !== undefined) {
      const kind = unfixedKinds.find(([key]) => backend.at(key).exists)
      if (refers.fixed && kind !== undefined) {
        report('conflict', spot, { found: `found ${kind[1]}`, expected: 'a fixed destination' })
      }
      if (refers.kind !== undefined && !backend.has(refers.kind)) {
        const found = `found the backend \`${located.name}\`, which has no language models`
        report('conflict', spot, { found, expected: 'the name of an `ai` backend' })
      }
      continue
    }
    report('unknown_reference', spot, {
      found: `found no backend named \`${located.name}\``,
      expected: 'the name of a backend in the top-level `backends`',
      suggestion: didYouMean(located.name, backendsByName.keys()),
    })
  }
}

/** Kinds of backends that answer in a way of their own, or where clients say what is asked. */
const unfixedKinds = [
  ['dynamicForwardProxy', 'a dynamic forward proxy'],
  ['inferencePool', 'an inference pool'],
  ['ai', 'a backend of language models'],
  ['mcp', 'an MCP backend'],
  ['aws', 'an agent runtime'],
] as const

/** Backends that policies describe by an address or a URL; the same description is the same backend. */
export function backendsOf(found: readonly FoundBackend[]): DescribedBackends {
  const byKey = new Map<string, DescribedBackends[number]>()
  for (const { spot, refers } of found) {
    const located = refers.locate(spot.value)
    if (located === null || located.kind === 'name') continue
    const { key } = located
    if (located.kind === 'host') {
      const { target } = located
      byKey.set(key, { backend: { key, name: targetName(target), target }, policies: undefined })
    } else byKey.set(key, urlBackend(located.url))
  }
  return [...byKey.values()]
}
