import { isObject } from '@portico/http/json'
import { type JsonObject, member } from '@portico/translate/json'
import { howOf, isListReplaced, readPatchMap } from './directives.ts'
import { type IdOf, orderedAs } from './order.ts'
import { type PatchedKind, type Rule, type Rules, ruleOf, rulesByKind } from './rules.ts'

type PatchResult = { ok: true; value: JsonObject } | { ok: false; problems: string[] }

/** Far deeper than any Kubernetes object, and far below the stack limit. */
const MAX_DEPTH = 100

/**
 * Applies a strategic merge patch like `kubectl patch --type=strategic`, with these differences: new items are appended to
 * lists, tolerations merge by `key`, a deleted map is gone, and no directive remains in the result.
 */
export function strategicMerge(kind: PatchedKind, original: JsonObject, patch: JsonObject): PatchResult {
  const merge = new StrategicMerge()
  const value = merge.maps(original, patch, { rules: rulesByKind[kind], place: '', depth: 0 })
  if (value === undefined) merge.problems.push('`$patch: delete` would delete the whole object')
  return value === undefined || merge.problems.length > 0
    ? { ok: false, problems: merge.problems }
    : { ok: true, value }
}

/** The position of the merge in the object. */
interface Spot {
  rules: Rules
  place: string
  depth: number
}

type KeyedRule = Extract<Rule, { list: 'byKey' }>

class StrategicMerge {
  readonly problems: string[] = []

  /** Merges two maps; undefined when the patch deletes the map. */
  maps(original: JsonObject, patch: JsonObject, spot: Spot): JsonObject | undefined {
    const { how, retained, removals, orders, fields } = readPatchMap(patch, (text) => this.#problem(spot, text))
    if (how === 'delete') return undefined
    const before = new Map(how === 'replace' ? [] : Object.entries(original))
    const merged = new Map([...before].filter(([name]) => retained === null || retained.has(name)))
    for (const [name, values] of removals) {
      const list = merged.get(name)
      if (Array.isArray(list))
        merged.set(
          name,
          list.filter((item) => !values.includes(item)),
        )
    }
    for (const [name, value] of fields) {
      const result = this.#field(merged.get(name), value, within(spot, name), ruleOf(spot.rules, name))
      if (result === undefined) merged.delete(name)
      else merged.set(name, result)
    }
    for (const [name, order] of orders) {
      const [list, was] = [merged.get(name), before.get(name)]
      const idOf = idsBy(ruleOf(spot.rules, name))
      if (Array.isArray(list)) merged.set(name, orderedAs(list, order, Array.isArray(was) ? was : [], idOf))
    }
    return Object.fromEntries(merged)
  }

  /** Merges one field; undefined when the field is deleted. */
  #field(original: unknown, value: unknown, spot: Omit<Spot, 'rules'>, rule: Rule | undefined): unknown {
    if (value === null) return undefined
    if (spot.depth > MAX_DEPTH) return this.#problem(spot, `nested deeper than ${MAX_DEPTH} levels`)
    if (Array.isArray(value)) return this.#lists(Array.isArray(original) ? original : [], value, { ...spot, rule })
    if (!isObject(value)) return value
    const isMerged = isObject(original) && !(rule !== undefined && 'map' in rule && rule.map === 'replaced')
    const rules = rule !== undefined && 'fields' in rule ? rule.fields : {}
    return this.maps(isMerged ? original : {}, value, { ...spot, rules })
  }

  #lists(
    original: readonly unknown[],
    patch: readonly unknown[],
    { rule, ...spot }: Omit<Spot, 'rules'> & { rule: Rule | undefined },
  ): unknown[] {
    if (rule !== undefined && 'list' in rule) {
      if (rule.list === 'byKey') return this.#byKey(original, patch, { ...spot, rule })
      return [...new Set([...original, ...patch])]
    }
    return patch.flatMap((item, index) => {
      const at = inside(spot, index)
      if (!isObject(item)) return [this.#field(undefined, item, at, undefined) ?? null]
      if (isListReplaced(item)) return []
      if (howOf(item, () => {}) !== 'merge')
        this.#problem(at, 'this list is replaced as a whole, because its items have no merge key')
      return [this.maps({}, item, { ...at, rules: {} }) ?? {}]
    })
  }

  #byKey(
    original: readonly unknown[],
    patch: readonly unknown[],
    { rule, ...spot }: Omit<Spot, 'rules'> & { rule: KeyedRule },
  ): unknown[] {
    const idOf = idsBy(rule)
    const items = patch.flatMap((item, index) => this.#keyed(item, rule, inside(spot, index)))
    const isReplaced = patch.some((item) => isObject(item) && isListReplaced(item))
    const gone = new Set(items.flatMap(({ how, id }) => (how === 'delete' ? id : [])))
    const merged = isReplaced ? [] : original.filter((item) => !gone.has(idOf(item) ?? ''))
    const indexById = new Map(
      merged.map((item, index): [string | undefined, number] => [idOf(item), index]).toReversed(),
    )
    for (const { how, id, item, at } of items) {
      if (how === 'delete') continue
      const index = isReplaced ? undefined : indexById.get(id)
      const base = index === undefined ? undefined : merged[index]
      const result = this.maps(isObject(base) ? base : {}, item, { ...at, rules: rule.item })
      if (index !== undefined) merged[index] = result
      // Items of a loose list may share a key, so they are not merged with one another.
      else if (merged.push(result) && !rule.isLoose) indexById.set(id, merged.length - 1)
    }
    return merged
  }

  /**
   * Returns a list with the item of a patch and its id; an empty list for a directive of the list or an invalid item.
   */
  #keyed(item: unknown, rule: KeyedRule, at: Omit<Spot, 'rules'>) {
    const say = (text: string): [] => {
      this.#problem(at, text)
      return []
    }
    if (!isObject(item)) return say('is not a map')
    if (isListReplaced(item)) return []
    const id = idsBy(rule)(item)
    if (id === undefined) return say(`lacks \`${rule.key}\`, the merge key of this list`)
    const how = howOf(item, () => {})
    if (how === 'replace')
      return say('`$patch: replace` must be the only field of its item: it replaces the whole list')
    return [{ how, id, item, at }]
  }

  #problem({ place }: { place: string }, text: string): void {
    this.problems.push(place === '' ? text : `${place}: ${text}`)
  }
}

function within({ place, depth }: Spot, name: string): Omit<Spot, 'rules'> {
  return { place: place === '' ? name : `${place}.${name}`, depth: depth + 1 }
}

function inside({ place, depth }: Omit<Spot, 'rules'>, index: number): Omit<Spot, 'rules'> {
  return { place: `${place}[${index}]`, depth: depth + 1 }
}

/** Identifies scalars by their value, maps by their key. */
function idsBy(rule: Rule | undefined): IdOf {
  if (rule === undefined || !('list' in rule) || rule.list !== 'byKey') return scalarId
  return (item) => scalarId(member(item, rule.key) ?? (rule.isLoose ? '' : undefined))
}

function scalarId(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? `${typeof value} ${String(value)}` : undefined
}
