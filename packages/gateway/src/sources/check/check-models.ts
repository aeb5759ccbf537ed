import { findReferenceFaults, type ModelNode } from '../../ir/model-graph.ts'
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
  for (const { model, path, found, expected, suggestion } of findReferenceFaults([...nodes.keys()])) {
    const spot = path.reduce<Spot>(
      (at, step) => (typeof step === 'number' ? (at.items[step] ?? at) : at.at(step)),
      nodes.get(model) ?? backend,
    )
    report(found.startsWith('found no model') ? 'unknown_reference' : 'conflict', spot, { found, expected, suggestion })
  }
  for (const spot of spots) {
    checkStar(spot, report)
    checkWeights(spot, report)
  }
}

function nodeOf(spot: Spot): ModelNode[] {
  const name = spot.at('name').text
  if (name === null) return []
  const targets = spot.at('targets').items.map((target, index) => ({
    name: target.at('model').text,
    path: ['targets', index, 'model'] as const,
  }))
  const fallbacks = spot.at('on').keys.map((kind) => ({
    name: spot.in('on', kind).text,
    path: ['on', kind] as const,
  }))
  const references = [...targets, ...fallbacks.filter(({ name: to }) => !/^(?:next|fail)$/i.test(to ?? ''))]
  return [
    {
      name,
      hasPrice: spot.has('price'),
      isVirtual: spot.has('targets'),
      byPrice: spot.at('by').text?.toLowerCase() === 'price',
      references: references.flatMap(({ name: to, path }) => (to === null ? [] : [{ name: to, path }])),
    },
  ]
}

/** A `*` in the model of the provider needs a `*` in the name. */
function checkStar(spot: Spot, report: Report): void {
  if (spot.at('name').text?.includes('*') !== false) return
  for (const vendor of spot.at('provider').keys) {
    const model = spot.in('provider', vendor, 'model')
    if (model.text?.includes('*') !== true) continue
    report('conflict', model, {
      found: `found \`${model.text}\` for a name without \`*\``,
      expected: 'a model without `*`',
    })
  }
}

function checkWeights(spot: Spot, report: Report): void {
  const targets = spot.at('targets').items
  if (spot.at('by').text?.toLowerCase() !== 'weight' || targets.length === 0) return
  if (targets.some((target) => target.at('weight').value !== 0)) return
  report('conflict', spot.at('targets'), { found: 'found only targets of weight 0', expected: 'a weight above 0' })
}
