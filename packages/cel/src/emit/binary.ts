import type { BinaryOperator } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'
import { MAX_SIZE } from '../run/meter.ts'
import type { Code, Writer } from './writer.ts'
import { withMissing } from './writer.ts'

type Binary = Plan & { kind: 'binary' }

const RUNTIME_NAMES: Readonly<Record<BinaryOperator, string>> = {
  '==': 'equals',
  '!=': 'notEquals',
  '<': 'less',
  '<=': 'lessOrEqual',
  '>': 'greater',
  '>=': 'greaterOrEqual',
  in: 'isIn',
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
}

/** Writes the likely case inline; the runtime handles the rest, including errors. */
export function writeBinary(writer: Writer, plan: Binary): Code {
  const left = operandOf(writer, plan.left)
  const right = operandOf(writer, plan.right)
  const slow = `F.withOffset(F.${RUNTIME_NAMES[plan.operator]}(${left.settled}, ${right.settled}), ${plan.offset})`
  const text = `(${[...left.setup, ...right.setup].join('')}${fastPath(writer, plan.operator, left, right, slow)})`
  return { text, missing: null, fails: true }
}

interface Operand {
  /** Code that computes the operand ahead of its use; empty for literals and variables. */
  setup: string[]
  name: string
  settled: string
  /** The value of a literal operand; undefined when the operand is computed. */
  literal: unknown
}

function operandOf(writer: Writer, plan: Plan): Operand {
  const code = writer.write(plan)
  const { set, name } = writer.hold(code)
  const literal = plan.kind === 'constant' ? plan.value : undefined
  return { setup: set === name ? [] : [`${set}, `], name, settled: withMissing(code, name), literal }
}

function fastPath(writer: Writer, operator: BinaryOperator, left: Operand, right: Operand, slow: string): string {
  switch (operator) {
    case '==':
    case '!=':
      return equality(operator === '==', left, right, slow)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return `${bothAre('number', left, right)} ? ${left.name} ${operator} ${right.name} : ${slow}`
    case '+':
      return addition(writer, left, right, slow)
    case '-':
    case '*':
      return wholeNumbers(writer, operator, left, right, slow)
    case 'in':
      return membership(writer, left, right, slow)
    case '/':
    case '%':
      return slow
  }
}

function equality(isEqual: boolean, left: Operand, right: Operand, slow: string): string {
  const operator = isEqual ? '===' : '!=='
  const same = `${left.name} ${operator} ${right.name}`
  const literalType = typeof (left.literal ?? right.literal)
  const type = literalType === 'number' || literalType === 'boolean' ? literalType : 'string'
  return `${bothAre(type, left, right)} ? ${same} : ${slow}`
}

function addition(writer: Writer, left: Operand, right: Operand, slow: string): string {
  const isNumber = typeof (left.literal ?? right.literal) === 'number'
  // In loops the runtime charges the budget for string concatenation.
  if (isNumber || writer.loopDepth > 0) return wholeNumbers(writer, '+', left, right, slow)
  const sum = writer.variable()
  const join = `(${sum} = ${left.name} + ${right.name}).length > ${MAX_SIZE} ? F.tooLarge : ${sum}`
  const isString = typeof (left.literal ?? right.literal) === 'string'
  const otherwise = isString ? slow : wholeNumbers(writer, '+', left, right, slow)
  return `${bothAre('string', left, right)} ? ${join} : ${otherwise}`
}

function wholeNumbers(writer: Writer, operator: '+' | '-' | '*', left: Operand, right: Operand, slow: string): string {
  const result = writer.variable()
  const tests = [left, right]
    .filter(({ literal }) => !Number.isSafeInteger(literal))
    .map(({ name }) => `Number.isSafeInteger(${name}) && `)
  const computed = `Number.isSafeInteger(${result} = ${left.name} ${operator} ${right.name})`
  return `${tests.join('')}${computed} ? ${result} : ${slow}`
}

function membership(writer: Writer, left: Operand, right: Operand, slow: string): string {
  if (writer.loopDepth > 0) return slow
  const isText = typeof left.literal === 'string' ? '' : `typeof ${left.name} === "string" && `
  return `${isText}Array.isArray(${right.name}) ? ${right.name}.includes(${left.name}) : ${slow}`
}

/** The type test for both operands; literals need none. */
function bothAre(type: string, left: Operand, right: Operand): string {
  const tests = [left, right]
    .filter(({ literal }) => typeof literal !== type || literal === undefined)
    .map(({ name }) => `typeof ${name} === "${type}"`)
  return tests.length === 0 ? 'true' : tests.join(' && ')
}
