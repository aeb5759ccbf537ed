import type { Plan } from '../plan.ts'
import type { Code, Writer } from './writer.ts'
import { withMissing } from './writer.ts'

/** Chains with more operands are written as statements in a function. */
const MAX_INLINE = 6

export function writeLogic(writer: Writer, plan: Plan & { kind: 'logic' }): Code {
  const decisive = plan.operator === '&&' ? 'false' : 'true'
  return plan.items.length <= MAX_INLINE ? inline(writer, plan, decisive) : asFunction(writer, plan, decisive)
}

/** The right side is not evaluated when the left decides; when the left fails, the right may still decide. */
function inline(writer: Writer, plan: Plan & { kind: 'logic' }, decisive: string): Code {
  const neutral = decisive === 'false' ? 'true' : 'false'
  const items = plan.items.map((item) => {
    const code = writer.write(item)
    return { code, held: writer.hold(code) }
  })
  const names = items.map(({ code, held }) => withMissing(code, held.name))
  const isDecided = items.map(({ held }) => `${held.set} === ${decisive}`).join(' || ')
  const isPlain = items.map(({ held }) => `${held.name} === ${neutral}`).join(' && ')
  const slow = `F.withOffset(F.undecided(${JSON.stringify(plan.operator)}, [${names.join(', ')}]), ${plan.offset})`
  return { text: `(${isDecided} ? ${decisive} : ${isPlain} ? ${neutral} : ${slow})`, missing: null, fails: true }
}

function asFunction(writer: Writer, plan: Plan & { kind: 'logic' }, decisive: string): Code {
  const text = writer.hoist(plan, () => {
    const results = writer.variable()
    const lines = plan.items.map((item) => {
      const { set, name } = writer.hold(writer.settled(item))
      return `if (${set} === ${decisive}) return ${decisive}; if (typeof ${name} !== "boolean") (${results} ??= []).push(${name});`
    })
    const slow = `F.withOffset(F.undecided(${JSON.stringify(plan.operator)}, ${results}), ${plan.offset})`
    return [...lines, `return ${results} === undefined ? ${decisive === 'false'} : ${slow};`].join('\n')
  })
  return { text, missing: null, fails: true }
}

export function writeNot(writer: Writer, plan: Plan & { kind: 'not' }): Code {
  const code = writer.write(plan.operand)
  const { set, name } = writer.hold(code)
  const slow = `F.withOffset(F.not(${withMissing(code, name)}), ${plan.offset})`
  return { text: `(${set} === true ? false : ${name} === false ? true : ${slow})`, missing: null, fails: true }
}

export function writeConditional(writer: Writer, plan: Plan & { kind: 'conditional' }): Code {
  const test = writer.write(plan.test)
  const { set, name } = writer.hold(test)
  const [yes, no] = [writer.value(plan.yes), writer.value(plan.no)]
  const slow = `F.withOffset(F.badCondition(${withMissing(test, name)}), ${plan.offset})`
  return { text: `(${set} === true ? ${yes} : ${name} === false ? ${no} : ${slow})`, missing: null, fails: true }
}
