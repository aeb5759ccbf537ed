import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { Document, Node as YamlNode, YAMLError } from 'yaml'
import type { Path, Problem } from '../schema/problem.ts'
import type { Fill } from './plain-yaml-flow.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { plainValue, substitute } from './substitute.ts'
import type { Environment } from './substitute.ts'
import type { Place, PlacedProblem } from './placed-problem.ts'

export interface ParsedYaml {
  /** Plain values, with variables filled in; undefined when the text has no shape at all. */
  value: unknown
  problems: PlacedProblem[]
  placeOf(path: Path, at: Problem['at']): Place
}

/** Parses the text; the place of every key and value can be asked for. */
export function parseYaml(text: string, file: string, env: Environment): ParsedYaml {
  const plain = text.length < BIG ? null : readPlainYaml(text, filler(env))
  if (plain === null) return parseWithPlaces(text, file, env)
  let full: ParsedYaml | null = null
  return {
    value: plain.value,
    problems: [],
    // Places are needed only when something is wrong.
    placeOf: (path, at) => (full ??= parseWithPlaces(text, file, env)).placeOf(path, at),
  }
}

function filler(env: Environment): Fill {
  return (scalar, isPlain) => {
    const result = substitute(scalar, env)
    if (!result.ok) return undefined
    return isPlain ? plainValue(result.text) : result.text
  }
}

/** Characters of some thousand routes: below this the full parser takes no time that anyone notices. */
const BIG = 200_000

export function parseWithPlaces(text: string, file: string, env: Environment): ParsedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const problems = document.errors.map((error) => syntaxProblem(error, placeAt(error.pos[0])))
  if (problems.length === 0 && text.includes('${')) problems.push(...fillVariables(document, env, placeAt))
  return {
    value: problems.some((problem) => problem.code === 'syntax') ? undefined : toValue(document, problems, placeAt),
    problems,
    placeOf: (path, at) => placeAt(offsetOf(document, path, at)),
  }
}

function syntaxProblem(error: YAMLError, place: Place): PlacedProblem {
  const duplicate = error.code === 'DUPLICATE_KEY'
  return {
    code: duplicate ? 'duplicate_key' : 'syntax',
    path: [],
    at: 'value',
    found: duplicate ? 'found a key twice in one mapping' : `found broken YAML (${error.message})`,
    expected: duplicate ? 'each key once' : 'a YAML document',
    suggestion: null,
    place,
  }
}

function toValue(document: Document, problems: PlacedProblem[], placeAt: (offset: number) => Place): unknown {
  try {
    return document.toJS({ maxAliasCount: 1_000 })
  } catch (error) {
    // Aliases that lead nowhere, or that multiply without end.
    const message = error instanceof Error ? error.message : String(error)
    problems.push({ ...syntaxProblem({ message } as YAMLError, placeAt(0)) })
    return undefined
  }
}

function fillVariables(document: Document, env: Environment, placeAt: (offset: number) => Place): PlacedProblem[] {
  const problems: PlacedProblem[] = []
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const result = substitute(node.value, env)
      if (result.ok) {
        node.value = node.type === 'PLAIN' ? plainValue(result.text) : result.text
        return
      }
      problems.push({
        code: 'unset_variable',
        path: [],
        at: 'value',
        found: `found \`\${${result.unset}}\`, but the variable is not set`,
        expected: 'a variable of the environment',
        suggestion: `set ${result.unset}, or give a default: \`\${${result.unset}:-value}\``,
        place: placeAt(node.range?.[0] ?? 0),
      })
    },
  })
  return problems
}

/** Offset of the key or value at a path, or of the nearest thing around it. */
function offsetOf(document: Document, path: Path, at: Problem['at']): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
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
