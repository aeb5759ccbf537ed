import type { Plan } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import { writeBinary } from './binary.ts'
import { writeCall } from './calls.ts'
import { flagsOf } from './answers.ts'
import { writeConditional, writeLogic, writeNot } from './logic.ts'
import { writeLoop } from './loops.ts'
import { writeHas, writeIndex, writePath, writeSelect, writeView } from './reads.ts'
import type { Code, Writer } from './writer.ts'
import { settle } from './writer.ts'

export function writeNode(writer: Writer, plan: Plan): Code {
  const { offset } = plan
  switch (plan.kind) {
    case 'constant':
      return sure(writer.literal(plan.value))
    case 'failure':
      return unsure(writer.constant(plan.error))
    case 'root':
    case 'field':
    case 'header':
      return writePath(writer, plan)
    case 'view':
      return writeView(writer, plan.path)
    case 'local':
      // A name may be bound to an error.
      return unsure(`v${plan.local}`)
    case 'select':
      return writeSelect(writer, plan)
    case 'index':
      return writeIndex(writer, plan)
    case 'optionalIndex':
      return unsure(`F.placed(F.optionalIndex(${writer.value(plan.operand)}, ${writer.value(plan.key)}), ${offset})`)
    case 'optionalPath': {
      const isStruct = typeOfPath(plan.path)?.kind === 'struct'
      const { text } = isStruct ? writeView(writer, plan.path) : writePath(writer, plan.path)
      return sure(`F.optionalOf(${text})`)
    }
    case 'has':
      return writeHas(writer, plan)
    case 'hasPath':
      return sure(`(${writePath(writer, plan.path).text} !== undefined)`)
    case 'call':
      return writeCall(writer, plan, offset)
    case 'logic':
      return writeLogic(writer, plan)
    case 'not':
      return writeNot(writer, plan)
    case 'negate':
      return unsure(`F.placed(F.negate(${writer.value(plan.operand)}), ${offset})`)
    case 'binary':
      return writeBinary(writer, plan)
    case 'conditional':
      return writeConditional(writer, plan)
    case 'list': {
      const items = plan.items.map(({ value }) => writer.settled(value))
      const texts = items.map(({ text }) => text).join(', ')
      const optional = flagsOf(plan.items)
      if (optional === null && !items.some(({ fails }) => fails)) return sure(`[${texts}]`)
      return unsure(`F.placed(F.makeList([${texts}], ${constantOrNull(writer, optional)}), ${offset})`)
    }
    case 'map': {
      const parts = plan.entries.flatMap(({ key, value }) => [writer.value(key), writer.value(value)])
      const optional = constantOrNull(writer, flagsOf(plan.entries))
      return unsure(`F.placed(F.makeMap([${parts.join(', ')}], ${optional}), ${offset})`)
    }
    case 'loop':
      return writeLoop(writer, plan)
    case 'bind':
      return unsure(`(${writer.variable(`v${plan.local}`)} = ${writer.value(plan.value)}, ${writer.value(plan.body)})`)
    case 'default': {
      const code = writer.write(plan.value)
      const { set, name } = writer.hold(code)
      const fallback = writer.value(plan.fallback)
      return unsure(`(${set} == null || (${name} instanceof E && F.isMissing(${name})) ? ${fallback} : ${name})`)
    }
    case 'coalesce': {
      const items = plan.items.map((item) => writer.hold(writer.write(item)))
      return sure(
        items.reduceRight(
          (rest, { set, name }) => `(${set} != null && !(${name} instanceof E) ? ${name} : ${rest})`,
          'null',
        ),
      )
    }
    case 'orElse': {
      const code = writer.write(plan.operand)
      const { set, name } = writer.hold(code)
      const full = plan.unwrap ? `${name}.value` : name
      const wrong = `F.placed(F.notOptional(${settle(code, name)}), ${offset})`
      const alternative = writer.value(plan.alternative)
      return unsure(`(${set} instanceof T ? ${name}.value === undefined ? ${alternative} : ${full} : ${wrong})`)
    }
    case 'optionalMap': {
      const code = writer.write(plan.operand)
      const { set, name } = writer.hold(code)
      const local = writer.variable(`v${plan.local}`)
      const result = `F.placed(F.mapped(${writer.value(plan.body)}, ${plan.flat}), ${offset})`
      const wrong = `F.placed(F.notOptional(${settle(code, name)}), ${offset})`
      return unsure(
        `(${set} instanceof T ? ${name}.value === undefined ? ${name} : (${local} = ${name}.value, ${result}) : ${wrong})`,
      )
    }
  }
}

function sure(text: string): Code {
  return { text, missing: null, fails: false }
}

function unsure(text: string): Code {
  return { text, missing: null, fails: true }
}

function constantOrNull(writer: Writer, value: unknown): string {
  return value === null ? 'null' : writer.constant(value)
}
