import type { Field } from '../core/yaml-field.ts'

type Table = ReadonlyMap<string, readonly string[]>

/** The groups that follow when a group fails, by the kind of the failure. */
export interface Fallbacks {
  readonly next: Table
  readonly contextLength: Table
  readonly contentFilter: Table
  /** Whether the source has no table at all for the kind: `next` applies then. */
  readonly isSilent: Readonly<Record<'contextLength' | 'contentFilter', boolean>>
}

/** Reads the fallbacks of `litellm_settings` and `router_settings`, of which the latter take precedence. */
export function readFallbacks(sections: readonly (Field | null)[], groups: ReadonlySet<string>): Fallbacks {
  const at = (name: string): Field | null => {
    const fields = sections.flatMap((section) => section?.get(name) ?? [])
    for (const field of fields.slice(0, -1))
      field.notCarried('router_settings has the same field, which takes precedence')
    return fields.at(-1) ?? null
  }
  const own = readTable(at('fallbacks'), groups, AFTER_FAILURES)
  const defaults = readNames(at('default_fallbacks'), groups, AFTER_FAILURES)
  const everywhere = own.get('*') ?? defaults
  const direct = new Map(
    [...groups].flatMap((name) => {
      const list = (own.get(name) ?? everywhere).filter((each) => each !== name)
      return list.length === 0 || name.includes('*') ? [] : [[name, list] as const]
    }),
  )
  const [context, content] = [at('context_window_fallbacks'), at('content_policy_fallbacks')]
  return {
    next: new Map([...direct].map(([name, list]) => [name, flatten(name, list, direct)])),
    contextLength: readTable(context, groups, null),
    contentFilter: readTable(content, groups, null),
    isSilent: { contextLength: context === null, contentFilter: content === null },
  }
}

/** LiteLLM continues with the fallbacks of a fallback; each group is tried once here, and at most 15 follow. */
function flatten(name: string, list: readonly string[], direct: Table): string[] {
  const found: string[] = []
  const visit = (each: string): void => {
    if (each === name || found.includes(each) || found.length >= 15) return
    found.push(each)
    for (const next of direct.get(each) ?? []) visit(next)
  }
  for (const each of list) visit(each)
  return found
}

const AFTER_FAILURES =
  'the gateway tries the fallback after connection errors, timeouts, 429 and 5xx; LiteLLM also tries it after other 4xx'

/** Reads `[{ name: [fallback, …] }]`; the note says what is different. */
function readTable(field: Field | null, groups: ReadonlySet<string>, note: string | null): Map<string, string[]> {
  const table = new Map<string, string[]>()
  for (const item of field?.items ?? []) {
    for (const [name, list] of item.members) {
      if (name !== '*' && !groups.has(name)) {
        list.notCarried('no imported model has this name')
        continue
      }
      const names = readNames(list, groups, note)
      if (names.length > 0 && !table.has(name)) table.set(name, names)
    }
  }
  return table
}

/** The names of a list that are models here. */
function readNames(field: Field | null, groups: ReadonlySet<string>, note: string | null): string[] {
  if (field === null) return []
  return field.items.flatMap((item) => {
    if (item.text !== null && isModel(item.text, groups)) {
      if (note === null) item.carried()
      else item.changed(note)
      return [item.text]
    }
    item.notCarried(
      item.isMapping ? 'a fallback with its own parameters has no counterpart' : 'no imported model has this name',
    )
    return []
  })
}

function isModel(name: string, groups: ReadonlySet<string>): boolean {
  if (!/^[\w.:/@+-]+$/.test(name)) return false
  if (groups.has(name)) return true
  return [...groups].some((each) => each.includes('*') && fits(name, each))
}

function fits(name: string, pattern: string): boolean {
  const [start = '', end = ''] = pattern.split('*')
  return name.length > start.length + end.length && name.startsWith(start) && name.endsWith(end)
}
