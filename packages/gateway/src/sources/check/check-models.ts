import { findModelFaults, isRuleWord, type ModelNode } from '../../ir/model-graph.ts'
import type { Report } from './report.ts'
import type { Spot } from './tree.ts'

/** Checks what the models of `ai` backends say about one another. */
export function checkModels(root: Spot, report: Report): void {
  for (const backend of root.at('backends').items) checkBackend(backend, report)
  for (const listener of root.at('binds').items.flatMap((bind) => bind.at('listeners').items)) {
    for (const route of listener.at('routes').items) {
      if (!route.has('backends')) continue
      for (const entry of route.at('backends').items) checkBackend(entry, report)
    }
  }
}

function checkBackend(backend: Spot, report: Report): void {
  if (!backend.has('ai')) return
  const spots = backend.in('ai', 'models').items
  const nodes = new Map(spots.flatMap((spot) => nodeOf(spot).map((node) => [node, spot] as const)))
  for (const { model, path, found, expected, suggestion } of findModelFaults([...nodes.keys()])) {
    const spot = path.reduce<Spot>(
      (at, step) => (typeof step === 'number' ? (at.items[step] ?? at) : at.at(step)),
      nodes.get(model) ?? backend,
    )
    report(found.startsWith('found no model') ? 'unknown_reference' : 'conflict', spot, { found, expected, suggestion })
  }
}

function nodeOf(spot: Spot): ModelNode[] {
  const name = spot.at('name').text
  if (name === null) return []
  const by = spot.at('by').text?.toLowerCase()
  const targets = spot.at('targets').items.map((target, index) => ({
    name: target.at('model').text,
    path: ['targets', index, 'model'] as const,
  }))
  const fallbacks = spot.at('fallback').keys.map((kind) => ({
    name: spot.in('fallback', kind).text,
    path: ['fallback', kind] as const,
  }))
  const references = [...targets, ...fallbacks.filter(({ name: to }) => !isRuleWord(to ?? ''))]
  return [
    {
      name,
      sent: spot.at('provider').keys.flatMap((vendor) => {
        const model = spot.in('provider', vendor, 'model').text
        return model === null ? [] : [{ vendor, model }]
      }),
      weights: by === 'weight' ? spot.at('targets').items.map((target) => target.at('weight').value) : [],
      hasPrice: spot.has('price'),
      isVirtual: spot.has('targets'),
      byPrice: by === 'price',
      references: references.flatMap(({ name: to, path }) => (to === null ? [] : [{ name: to, path }])),
    },
  ]
}
