import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { Document, Node as YamlNode, YAMLError } from 'yaml'
import type { Path, Problem } from '../../schema/problem.ts'
import type { Fill } from './plain-yaml-flow.ts'
import { locatePlainYaml, readPlainYaml } from './plain-yaml.ts'
import { plainValue, substitute } from '../substitute.ts'
import type { Environment } from '../substitute.ts'
import type { ConfigLocation, LocatedProblem } from '../located-problem.ts'

export interface ParsedYaml {
  /** Plain values, with variables filled in; undefined when the text cannot be parsed. */
  value: unknown
  problems: LocatedProblem[]
  locationOf(this: void, path: Path, at: Problem['at']): ConfigLocation
}

/** The value of a text by itself; null when it is invalid, or has anchors, to which other texts may refer. */
export function readAlone(text: string, env: Environment): { value: unknown } | null {
  const plain = readPlainYaml(text, filler(env))
  if (plain !== null) return plain
  const { value, problems, hasAnchors } = parseWithLocations(text, '', env)
  return problems.length > 0 || hasAnchors ? null : { value }
}

/** Parses the text; the result gives the location of every key and value. */
export function parseYaml(text: string, file: string, env: Environment): ParsedYaml {
  const plain = readPlainYaml(text, filler(env))
  const { value, problems } = plain === null ? parseWithLocations(text, file, env) : { ...plain, problems: [] }
  let locate: ParsedYaml['locationOf'] | null = null
  // Locations are needed only for problems, and a valid config should not keep its positions in memory.
  return { value, problems, locationOf: (path, at) => (locate ??= locatorOf(text, file, env))(path, at) }
}

/** Returns the function that locates paths: without the full parser if the text is plain. */
function locatorOf(text: string, file: string, env: Environment): ParsedYaml['locationOf'] {
  const locatePlain = locatePlainYaml(text, filler(env))
  let full: ParsedYaml | null = null
  return (path, at) => {
    const mark = locatePlain?.(path, at) ?? null
    return mark === null ? (full ??= parseWithLocations(text, file, env)).locationOf(path, at) : { file, ...mark }
  }
}

function filler(env: Environment): Fill {
  return (scalar, isPlain) => {
    const result = substitute(scalar, env)
    if (!result.ok) return undefined
    return isPlain ? plainValue(result.text) : result.text
  }
}

export function parseWithLocations(text: string, file: string, env: Environment): ParsedYaml & { hasAnchors: boolean } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const locationAt = (offset: number): ConfigLocation => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const problems = document.errors.map((error) => syntaxProblem(error, text, locationAt(error.pos[0])))
  if (problems.length === 0) problems.push(...aliasProblems(document, locationAt))
  if (problems.length === 0 && text.includes('${')) problems.push(...fillVariables(document, env, locationAt))
  return {
    value: problems.some((problem) => problem.code === 'syntax') ? undefined : toValue(document, problems, locationAt),
    problems,
    locationOf: (path, at) => locationAt(offsetOf(document, path, at)),
    hasAnchors: hasAnchors(document),
  }
}

type Phrases = Pick<LocatedProblem, 'found' | 'expected'>

function syntaxProblem({ code, message, pos }: YAMLError, text: string, location: ConfigLocation): LocatedProblem {
  if (code === 'DUPLICATE_KEY') {
    const key = /^[^:\n]{1,64}/.exec(text.slice(pos[0]))?.[0].trim() ?? ''
    const phrases = { found: `found the key \`${key}\` twice in one mapping`, expected: 'each key once' }
    return { ...broken(phrases, location), code: 'duplicate_key' }
  }
  if (code === 'MULTIPLE_DOCS') {
    return broken({ found: 'found a second YAML document', expected: 'one, without `---` between its parts' }, location)
  }
  return broken({ found: `found broken YAML (${message})`, expected: 'a YAML document' }, location)
}

function broken(phrases: Phrases, location: ConfigLocation): LocatedProblem {
  return { code: 'syntax', path: [], at: 'value', ...phrases, suggestion: null, location }
}

/** Aliases of anchors that do not exist, or come later. */
export function aliasProblems(document: Document, locationAt: (offset: number) => ConfigLocation): LocatedProblem[] {
  const problems: LocatedProblem[] = []
  const anchors = new Set<string>()
  visit(document, {
    Node(_key, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
        return
      }
      if (anchors.has(node.source)) return
      const found = `found the alias \`*${node.source}\` without an anchor before it`
      problems.push(broken({ found, expected: `\`&${node.source}\` above` }, locationAt(startOf(node) ?? 0)))
    },
  })
  return problems
}

function hasAnchors(document: Document): boolean {
  let found = false
  visit(document, {
    Node(_key, node) {
      found ||= isAlias(node) || node.anchor !== undefined
      return found ? visit.BREAK : undefined
    },
  })
  return found
}

/** Converts the document to plain values; adds a problem and returns undefined when that fails. */
export function toValue(
  document: Document,
  problems: LocatedProblem[],
  locationAt: (offset: number) => ConfigLocation,
): unknown {
  try {
    return document.toJS({ maxAliasCount: 1_000 })
  } catch (error) {
    // Nested aliases that expand beyond the limit.
    const message = error instanceof Error ? error.message : String(error)
    problems.push(broken({ found: `found broken YAML (${message})`, expected: 'a YAML document' }, locationAt(0)))
    return undefined
  }
}

function fillVariables(
  document: Document,
  env: Environment,
  locationAt: (offset: number) => ConfigLocation,
): LocatedProblem[] {
  const problems: LocatedProblem[] = []
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const result = substitute(node.value, env)
      if (result.ok) {
        node.value = node.type === 'PLAIN' ? plainValue(result.text) : result.text
        return
      }
      const problem = 'malformed' in result ? malformedVariable(result.malformed) : unsetVariable(result.unset)
      problems.push({ path: [], at: 'value', ...problem, location: locationAt(startOf(node) ?? 0) })
    },
  })
  return problems
}

function unsetVariable(name: string) {
  return {
    code: 'unset_variable' as const,
    found: `found \`\${${name}}\`, but the variable is not set`,
    expected: 'an environment variable',
    suggestion: `set ${name}, or give a default: \`\${${name}:-value}\``,
  }
}

function malformedVariable(start: string) {
  return {
    code: 'bad_format' as const,
    found: `found \`${start}\`, which is not a complete variable`,
    expected: '`${NAME}` or `${NAME:-default}`',
    suggestion: 'write `$${` for a literal `${`',
  }
}

/** Offset of the key or value at a path, or of the nearest thing around it. */
/** The offset in the text of the value at a path, or of the longest part of the path that exists. */
export function offsetOf(document: Document, path: Path, at: Problem['at']): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
    // Some mappings may be written as a one-item list.
    if (isSeq(node) && typeof step === 'string') node = node.items[0]
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
      if (pair === undefined) return offset
      node = pair.value
      const keyOffset = startOf(pair.key) ?? offset
      const wantsKey = at === 'key' && index === path.length - 1
      offset = wantsKey ? keyOffset : (startOf(node) ?? keyOffset)
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      offset = startOf(node) ?? offset
    } else return offset
  }
  return offset
}

function startOf(node: unknown): number | null {
  return (node as YamlNode | null | undefined)?.range?.[0] ?? null
}
