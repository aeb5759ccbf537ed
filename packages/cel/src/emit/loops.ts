import type { LoopNode, Plan } from '../plan.ts'
import type { Code, Writer } from './writer.ts'

/**
 * Each loop becomes a function whose parameters are the scope, the range and the outer macro variables that it uses.
 */
export function writeLoop(writer: Writer, loop: Plan & LoopNode): Code {
  const range = writer.value(loop.range)
  const inner = withoutRange(loop)
  const text = writer.hoist(inner, () => writeBody(writer, loop), [{ name: 'r', value: range }])
  return { text, missing: null, fails: true }
}

/** The range is computed outside the function, because it cannot use the loop's variables. */
function withoutRange(loop: Plan & LoopNode): Plan {
  return { ...loop, range: { kind: 'constant', offset: loop.offset, value: null } }
}

function writeBody(writer: Writer, loop: Plan & LoopNode): string {
  const { offset } = loop
  const isMapOnly = loop.values || loop.macro === 'filterKeys'
  writer.loopDepth++
  const filter = loop.filter && writer.value(loop.filter)
  const body = writer.value(loop.body)
  writer.loopDepth--
  const result = writer.variable()
  const shape = shapes[loop.macro]({ body, result, offset })
  return [
    ...(isMapOnly
      ? ['const items = F.keysOfMap(r);']
      : ['const isList = Array.isArray(r);', 'const items = isList ? r : F.itemsOf(r);']),
    `if (!Array.isArray(items)) return F.withOffset(items, ${offset});`,
    shape.before,
    'for (let i = 0; i < items.length; i++) {',
    'if (--M.left < 0) return F.exhausted;',
    ...variables(loop, isMapOnly),
    ...(filter === null
      ? []
      : [
          `${result} = ${filter};`,
          `if (${result} === false) continue;`,
          `if (${result} !== true) return F.badPredicate(${result}).at(${offset});`,
        ]),
    shape.each,
    '}',
    shape.after,
  ].join('\n')
}

function variables(loop: LoopNode, isMapOnly: boolean): string[] {
  const [first, second] = loop.locals
  if (isMapOnly) {
    return ['const key = items[i];', `const v${first} = ${loop.values ? 'F.valueAt(r, key)' : 'key'};`]
  }
  if (second === undefined) return ['const key = items[i];', `const v${first} = key;`]
  return [
    'const key = isList ? i : items[i];',
    `const v${first} = key;`,
    `const v${second} = isList ? items[i] : F.valueAt(r, key);`,
  ]
}

interface Parts {
  body: string
  result: string
  offset: number
}

interface Shape {
  before: string
  each: string
  after: string
}

const shapes: Readonly<Record<LoopNode['macro'], (parts: Parts) => Shape>> = {
  all: (parts) => quantifier('false', parts),
  exists: (parts) => quantifier('true', parts),
  existsOne: ({ body, result, offset }) => ({
    before: 'let count = 0;',
    each: `${result} = ${body}; if (${result} === true) count++; else if (${result} !== false) return F.badPredicate(${result}).at(${offset});`,
    after: 'return count === 1;',
  }),
  toList: ({ body, result }) => ({
    before: 'const list = [];',
    each: `${result} = ${body}; if (${result} instanceof E) return ${result}; list.push(${result});`,
    after: 'return list;',
  }),
  toMap: ({ body, result }) => ({
    before: 'const map = new Map();',
    each: `${result} = ${body}; if (${result} instanceof E) return ${result}; map.set(key, ${result});`,
    after: 'return map;',
  }),
  filterKeys: ({ body, result, offset }) => ({
    before: 'const map = new Map();',
    each: `${result} = ${body}; if (${result} === true) map.set(key, F.valueAt(r, key)); else if (${result} !== false) return F.badPredicate(${result}).at(${offset});`,
    after: 'return map;',
  }),
}

/** An error is the result only when no item decides. */
function quantifier(decisive: string, { body, result, offset }: Parts): Shape {
  return {
    before: 'let failure;',
    each: `${result} = ${body}; if (${result} === ${decisive}) return ${decisive}; if (typeof ${result} !== "boolean") failure ??= F.badPredicate(${result}).at(${offset});`,
    after: `return failure === undefined ? ${decisive === 'false'} : failure;`,
  }
}
