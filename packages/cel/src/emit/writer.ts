import type { Plan } from '../plan.ts'
import { childrenOf } from '../plan-children.ts'

/** A JavaScript expression and the facts known about its value. */
export interface Code {
  text: string
  /** The expression to use when the value is undefined; null when it never is. */
  missing: string | null
  /** Whether the value may be an error. */
  fails: boolean
}

/** A value that is used more than once: `set` computes it, and `name` refers to it afterwards. */
export interface TempValue {
  set: string
  name: string
}

type WriteNode = (writer: Writer, plan: Plan) => Code

/** Deeper code is moved into a function, because JavaScript parsers are recursive too. */
const MAX_NESTING = 16

/**
 * Collects the parts of a generated program. The source of the expression never gets into it: names and texts appear as
 * JSON strings, everything else as constants.
 */
export class Writer {
  readonly constants: unknown[] = []
  readonly functions: string[] = []
  /** The number of loops around the code being written. */
  loopDepth = 0
  readonly #writeNode: WriteNode
  readonly #nameByConstant = new Map<unknown, string>()
  #variables: string[] = []
  #nesting = 0
  #names = 0

  constructor(writeNode: WriteNode) {
    this.#writeNode = writeNode
  }

  write(plan: Plan): Code {
    if (this.#nesting >= MAX_NESTING && !LEAVES.has(plan.kind)) {
      const text = this.hoist(plan, () => `return ${this.value(plan)}`)
      return { text, missing: null, fails: true }
    }
    this.#nesting++
    const code = this.#writeNode(this, plan)
    this.#nesting--
    return code
  }

  /** Writes code whose value is never undefined. */
  settled(plan: Plan): Code {
    const code = this.write(plan)
    if (code.missing === null) return code
    const { set, name } = this.hold(code)
    return { text: `(${set} === undefined ? ${code.missing} : ${name})`, missing: null, fails: code.fails }
  }

  value(plan: Plan): string {
    return this.settled(plan).text
  }

  hold({ text }: { text: string }): TempValue {
    if (SIMPLE.test(text)) return { set: text, name: text }
    const name = this.variable()
    return { set: `(${name} = ${text})`, name }
  }

  variable(name = `t${this.#names++}`): string {
    this.#variables.push(name)
    return name
  }

  constant(value: unknown): string {
    let name = this.#nameByConstant.get(value)
    if (name === undefined) {
      name = `k${this.constants.length}`
      this.constants.push(value)
      this.#nameByConstant.set(value, name)
    }
    return name
  }

  /** The JavaScript literal for a value of the expression, or the name of a constant. */
  literal(value: unknown): string {
    if (typeof value === 'string') return JSON.stringify(value)
    if (value === null || typeof value === 'boolean') return String(value)
    // A number is put in parentheses, because a dot may follow.
    if (typeof value === 'number' && Number.isSafeInteger(value)) return `(${value})`
    return this.constant(value)
  }

  /** Moves a part of the program into a function and returns the call. `more` are further parameters. */
  hoist(plan: Plan, writeBody: () => string, more: readonly { name: string; value: string }[] = []): string {
    const outer = { variables: this.#variables, nesting: this.#nesting }
    this.#variables = []
    this.#nesting = 0
    const body = writeBody()
    const declarations = this.declarations()
    this.#variables = outer.variables
    this.#nesting = outer.nesting
    const name = `f${this.#names++}`
    const locals = freeLocals(plan).map((local) => `v${local}`)
    const parameters = ['c', ...more.map((parameter) => parameter.name), ...locals]
    this.functions.push(`function ${name}(${parameters.join(', ')}) {\n${declarations}${body}\n}`)
    return `${name}(${['c', ...more.map((parameter) => parameter.value), ...locals].join(', ')})`
  }

  /** Declarations of the variables of the function being written. */
  declarations(): string {
    return this.#variables.length === 0 ? '' : `let ${this.#variables.join(', ')};\n`
  }
}

const LEAVES = new Set<Plan['kind']>(['constant', 'failure', 'local', 'root'])
const SIMPLE = /^(?:[ktv]\d+|\(-?\d+\)|true|false|null|"(?:[^"\\]|\\.){0,200}")$/

/** The name, with undefined replaced by the `missing` expression of the code. */
export function withMissing(code: Code, name: string): string {
  return code.missing === null ? name : `(${name} === undefined ? ${code.missing} : ${name})`
}

/** Macro variables that a plan uses but does not declare. */
function freeLocals(plan: Plan): number[] {
  const used = new Set<number>()
  const bound = new Set<number>()
  collect(plan)
  return [...used].filter((local) => !bound.has(local)).toSorted((a, b) => a - b)

  function collect(node: Plan): void {
    if (node.kind === 'local') used.add(node.local)
    else if (node.kind === 'loop') for (const local of node.locals) bound.add(local)
    else if (node.kind === 'bind' || node.kind === 'optionalMap') bound.add(node.local)
    for (const child of childrenOf(node)) collect(child)
  }
}
