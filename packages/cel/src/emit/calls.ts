import type { FunctionDefinition } from '../declarations.ts'
import { coreFunctions } from '../library/core.ts'
import { conversionFunctions } from '../library/conversions.ts'
import type { CallNode } from '../plan.ts'
import type { Code, TempValue, Writer } from './writer.ts'

export function writeCall(writer: Writer, call: CallNode, offset: number): Code {
  const args = call.args.map((arg) => {
    const code = writer.settled(arg)
    return { ...writer.hold(code), fails: code.fails }
  })
  const names = args.map(({ name }) => name)
  const general = dispatch(writer, call, args, offset)
  const setup = args.map(({ set, name }) => (set === name ? '' : `${set}, `)).join('')
  const inline = call.methods.length === 0 ? inlined(writer, call.fallback, names) : undefined
  return { text: `(${setup}${inline === undefined ? general : `${inline} : ${general}`})`, missing: null, fails: true }
}

interface Argument extends TempValue {
  fails: boolean
}

/** Tries the host's methods by the class of the receiver, then the function without `on`. */
function dispatch(writer: Writer, call: CallNode, args: readonly Argument[], offset: number): string {
  const names = args.map(({ name }) => name)
  const otherwise =
    call.fallback === undefined
      ? `F.noMethod(${names[0]}, ${JSON.stringify(call.label)}).at(${offset})`
      : invocation(writer, call.fallback, args, offset)
  return call.methods.reduceRight(
    (rest, method) =>
      `${names[0]} instanceof ${writer.constant(method.on)} ? ${invocation(writer, method, args, offset)} : ${rest}`,
    otherwise,
  )
}

function invocation(writer: Writer, definition: FunctionDefinition, args: readonly Argument[], offset: number): string {
  const names = args.map(({ name }) => name)
  const passed = definition.scoped ? ['c', ...names] : names
  const call = `F.withOffset(${writer.constant(definition.call)}(${passed.join(', ')}), ${offset})`
  if (definition.strict === false) return call
  const failing = args.filter(({ fails }) => fails)
  return failing.reduceRight((rest, { name }) => `${name} instanceof E ? ${name} : ${rest}`, call)
}

/** Returns `test ? value` for the likely types, or undefined. */
function inlined(
  writer: Writer,
  definition: FunctionDefinition | undefined,
  names: readonly string[],
): string | undefined {
  const write = definition && INLINE.get(definition)
  return write?.(names, writer.loopDepth > 0)
}

type Inline = (names: readonly string[], inLoop: boolean) => string | undefined

const INLINE = new Map<FunctionDefinition, Inline>([
  [core('startsWith'), (names) => textTest(names, 'startsWith')],
  [core('endsWith'), (names) => textTest(names, 'endsWith')],
  // `includes` is linear in the text, so in loops the runtime must charge the budget.
  [core('contains'), (names, inLoop) => (inLoop ? undefined : textTest(names, 'includes'))],
  [core('size'), ([list]) => `Array.isArray(${list}) ? ${list}.length`],
  [
    named(conversionFunctions, 'string'),
    ([value]) => `typeof ${value} === "string" ? ${value} : Number.isSafeInteger(${value}) ? "" + ${value}`,
  ],
])

function core(name: string): FunctionDefinition {
  return named(coreFunctions, name)
}

function named(functions: readonly FunctionDefinition[], name: string): FunctionDefinition {
  const definition = functions.find((candidate) => candidate.name === name)
  if (definition === undefined) throw new Error(`the library has no ${name}`)
  return definition
}

function textTest([text, part]: readonly string[], method: string): string {
  return `typeof ${text} === "string" && typeof ${part} === "string" ? ${text}.${method}(${part})`
}
