import type { Field } from '../../core/yaml-field.ts'
import { type Convert, list, lost, mapping, scalar, type Scope } from '../values/convert.ts'

interface Target {
  readonly model?: unknown
  readonly weight?: unknown
  readonly priority?: unknown
}

/**
 * Reads a virtual model: its targets, and the rule that chooses a target. Returns undefined when the model cannot be
 * imported.
 */
export function readVirtualModel(
  field: Field,
  scope: Scope,
  isModel: (name: string) => boolean,
): { name: string; members: object } {
  const name = field.get('name')
  name?.carried()
  const routing = field.get('routing')
  const [[kind, settings] = ['', null], ...others] = routing?.members ?? []
  const targets = settings?.get('targets') ?? null
  const found = { name: name?.text ?? '', members: CLOSED_MODEL }
  if (targets === null || others.length > 0 || !['weighted', 'failover'].includes(kind)) {
    lost(routing ?? field, 'the importer does not know this rule; requests get 403')
    return found
  }
  const model: Convert = (each, inner) =>
    isModel(each.text ?? '')
      ? scalar(each, inner)
      : lost(each, 'the target must be a model that is not a virtual model; requests get 403')
  const read = list(mapping({ model, weight: scalar, priority: scalar }))(targets, scope) as Target[]
  if (field.amendLosses('requests get 403', true) || read.length === 0) return found
  if (kind === 'weighted') {
    const weighted = read.map(({ model: target, weight }) => ({
      model: target,
      ...(weight !== undefined && { weight }),
    }))
    return { ...found, members: { targets: weighted, by: 'Weight' } }
  }
  const ordered = read.toSorted((one, other) => Number(one.priority ?? 0) - Number(other.priority ?? 0))
  const priorities = new Set(read.map(({ priority }) => priority ?? 0))
  if (priorities.size < read.length) targets.changed('Portico tries targets with equal priority in their order')
  return { ...found, members: { targets: ordered.map((each) => ({ model: each.model })), by: 'Order' } }
}

/** A model that denies all requests. The model is printed so that no pattern matches requests for its name. */
export const CLOSED_MODEL: object = { provider: { mock: {} }, allow: 'false' }
