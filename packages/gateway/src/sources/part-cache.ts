import { isObject } from '@portico/http/json'
import type { Path, Problem } from '../schema/problem.ts'
import { unwrapLists } from '../schema/unwrap-singletons.ts'
import { fieldOf, type Schema } from '../schema/kit.ts'
import { validate } from '../schema/validate.ts'
import { namedBackend } from './backends/schema.ts'
import { listener } from './binds/schema.ts'
import { type CutItem, cutLists, type CutText, placeholderOf } from './cut-lists.ts'
import type { ConfigLocation } from './located-problem.ts'
import { targetedPolicy } from './policies/schema.ts'
import { findReferences } from './check/references.ts'
import { route } from './routes/schema.ts'
import { configFile, type ConfigFile } from './schema.ts'
import { SETTLED, SettledParts } from './check/settled.ts'
import type { Environment } from './substitute.ts'
import { putAt, Spot } from './check/tree.ts'
import { type ParsedYaml, parseWithLocations, readAlone } from './yaml/yaml.ts'

/** A config whose parts are valid, each by itself. */
interface ReadParts {
  /** Plain values; parts with the text that they had before are the same objects. */
  input: unknown
  /** The validated values; unchanged parts are the same objects, except for parts that name files. */
  config: ConfigFile
  locationOf(this: void, path: Path, at: Problem['at']): ConfigLocation
  /** Checks that found nothing in these parts. */
  settled: SettledParts
}

/**
 * Parts of a file that were read before: routes, backends and policies whose text has not changed are neither parsed
 * nor validated again. It only ever says what the whole file would have said, and nothing where that would be a problem.
 */
export class PartCache {
  /** The parts by their text. The same text may occur several times, each as a separate object. */
  #parts = new Map<string, Part[]>()
  #environment = ''
  readonly #settled = new SettledParts()

  read(text: string, file: string, env: Environment): ReadParts | null {
    const cut = cutLists(text)
    if (cut === null || cut.lists.length === 0) return null
    // Variables are filled in when a part is read.
    const environment = JSON.stringify(env)
    const known = environment === this.#environment ? this.#parts : new Map<string, Part[]>()
    const parts = new Map<string, Part[]>()
    const read = readCut(cut, env, (item, schema) => {
      const seen = parts.get(item.text)
      const part = known.get(item.text)?.find((each) => each.schema === schema && !(seen?.includes(each) ?? false))
      const made = part ?? readPart(item.text, schema, env, this.#settled)
      if (made === null) return null
      if (seen === undefined) parts.set(made.text, [made])
      else seen.push(made)
      return made
    })
    if (read === null) return null
    this.#parts = parts
    this.#environment = environment
    const locationOf = locator(cut, read.paths, file, env)
    return { input: read.input, config: read.config, locationOf, settled: this.#settled }
  }
}

interface Part {
  text: string
  schema: Schema
  input: unknown
  /** Null when each config needs its own copy, because file contents are inserted into it. */
  value: unknown
}

/** The paths that lists were cut from. */
type ListPaths = Path[]

function readCut(
  cut: CutText,
  env: Environment,
  partOf: (item: CutItem, schema: Schema) => Part | null,
): { input: unknown; config: ConfigFile; paths: ListPaths } | null {
  const rest = readAlone(cut.rest, env)
  const root = rest?.value
  // The short form is expanded in the whole file.
  if (!isObject(root) || root['llm'] !== undefined) return null
  unwrapLists(configFile, root)
  const holders = holdersIn(root, cut.lists.length)
  if (holders === null) return null
  for (const { holder, key } of holders) holder[key] = []
  const validated = validate(configFile, root)
  if (!validated.ok) return null
  for (const [index, { holder, key, schema, most, path }] of holders.entries()) {
    const items = cut.lists[index] ?? []
    if (items.length > most) return null
    const inputs: unknown[] = []
    const values: unknown[] = []
    for (const item of items) {
      const part = partOf(item, schema)
      if (part === null) return null
      const value = part.value ?? valueOf(part.input, schema)
      if (value === null) return null
      inputs.push(part.input)
      values.push(value)
    }
    holder[key] = inputs
    putAt(validated.value, path, values)
  }
  return { input: root, config: validated.value, paths: holders.map(({ path }) => path) }
}

function readPart(text: string, schema: Schema, env: Environment, settled: SettledParts): Part | null {
  // Copies the text, because a substring would keep the whole text in memory.
  const own = Buffer.from(text).toString()
  const read = readAlone(own, env)
  if (read === null || !Array.isArray(read.value) || read.value.length !== 1) return null
  const input: unknown = read.value[0]
  unwrapLists(schema, input)
  const references = findReferences(schema, new Spot(input))
  if (references.length === 0) settled.add(input, SETTLED.references)
  const namesFiles = references.some(({ refers }) => refers.to === 'contents')
  const value = valueOf(input, schema)
  return value === null ? null : { text: own, schema, input, value: namesFiles ? null : value }
}

function valueOf(input: unknown, schema: Schema): unknown {
  const validated = validate(schema, input)
  return validated.ok ? validated.value : null
}

interface Holder {
  holder: Record<string, unknown>
  key: string
  path: Path
  schema: Schema
  most: number
}

/** The holders of the placeholders; null when a placeholder is where no such list belongs. */
function holdersIn(root: Record<string, unknown>, count: number): Holder[] | null {
  const found = new Map<unknown, Holder>()
  const look = (holder: unknown, key: string, at: { path: Path; schema: Schema; most: number }): void => {
    if (isObject(holder) && typeof holder[key] === 'string') found.set(holder[key], { holder, key, ...at })
  }
  look(root, 'backends', { path: ['backends'], schema: namedBackend, most: mostIn(configFile, 'backends') })
  look(root, 'policies', { path: ['policies'], schema: targetedPolicy, most: mostIn(configFile, 'policies') })
  const most = mostIn(listener, 'routes')
  for (const [bind, { value: listeners }] of itemsOf(root['binds'], 'listeners').entries()) {
    for (const [index, { holder }] of itemsOf(listeners, 'routes').entries()) {
      look(holder, 'routes', { path: ['binds', bind, 'listeners', index, 'routes'], schema: route, most })
    }
  }
  const holders = Array.from({ length: count }, (_, list) => found.get(placeholderOf(list)) ?? null)
  return holders.every((holder) => holder !== null) ? holders : null
}

function itemsOf(list: unknown, key: string): { holder: unknown; value: unknown }[] {
  if (!Array.isArray(list)) return []
  return list.map((holder: unknown) => ({ holder, value: isObject(holder) ? holder[key] : undefined }))
}

function mostIn(schema: Schema, key: string): number {
  const { node } = fieldOf(schema)
  const child = node.kind === 'object' ? node.fields[key] : undefined
  const list = child === undefined ? undefined : fieldOf(child).node
  if (list?.kind !== 'list') throw new Error(`${key} is no list`)
  return list.max
}

/** Finds locations by parsing only the part that the path leads to. */
function locator(cut: CutText, lists: ListPaths, file: string, env: Environment): ReadParts['locationOf'] {
  const parsed = new Map<string, ParsedYaml>()
  const inText = (text: string, path: Path, at: Problem['at'], row: (line: number) => number): ConfigLocation => {
    const known = parsed.get(text) ?? parseWithLocations(text, file, env)
    parsed.set(text, known)
    const location = known.locationOf(path, at)
    return 'variable' in location ? location : { ...location, line: row(location.line - 1) + 1 }
  }
  return (path, at) => {
    const list = lists.findIndex((own) => own.every((step, index) => path[index] === step))
    const depth = lists[list]?.length ?? 0
    const index = path[depth]
    const items = cut.lists[list]
    // The location of a list is that of its first item.
    const wanted = index === undefined && at === 'value' ? items?.[0] : items?.[Number(index)]
    if (wanted === undefined) return inText(cut.rest, path, at, (line) => cut.rows[line] ?? 0)
    const steps = index === undefined ? [] : [0, ...path.slice(depth + 1)]
    return inText(wanted.text, steps, at, (line) => wanted.row + line)
  }
}
