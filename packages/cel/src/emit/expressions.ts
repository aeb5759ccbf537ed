import type { Path, Plan } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import { writeBinary } from './binary.ts'
import { writeCall } from './calls.ts'
import { flagsOf } from './errors.ts'
import { writeConditional, writeLogic, writeNot } from './logic.ts'
import { writeLoop } from './loops.ts'
import { writeHas, writeIndex, writePath, writeSelect, writeView } from './reads.ts'
import type { Code, Writer } from './writer.ts'
import { withMissing } from './writer.ts'

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
      // A macro variable may hold an error.
      return unsure(`v${plan.local}`)
    case 'select':
      return writeSelect(writer, plan)
    case 'index':
      return writeIndex(writer, plan)
    case 'optionalIndex':
      return unsure(
        `F.withOffset(F.optionalIndex(${writer.value(plan.operand)}, ${writer.value(plan.key)}), ${offset})`,
      )
    case 'optionalPath':
      return writeOptionalPath(writer, plan.path)
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
      return unsure(`F.withOffset(F.negate(${writer.value(plan.operand)}), ${offset})`)
    case 'binary':
      return writeBinary(writer, plan)
    case 'conditional':
      return writeConditional(writer, plan)
    case 'list':
      return writeList(writer, plan)
    case 'map':
      return writeMap(writer, plan)
    case 'loop':
      return writeLoop(writer, plan)
    case 'bind':
      return unsure(`(${writer.variable(`v${plan.local}`)} = ${writer.value(plan.value)}, ${writer.value(plan.body)})`)
    case 'default':
      return writeDefault(writer, plan)
    case 'coalesce':
      return writeCoalesce(writer, plan.items)
    case 'orElse':
      return writeOrElse(writer, plan)
    case 'optionalMap':
      return writeOptionalMap(writer, plan)
  }
}

function writeOptionalPath(writer: Writer, path: Path): Code {
  const { text } = typeOfPath(path)?.kind === 'struct' ? writeView(writer, path) : writePath(writer, path)
  return sure(`F.optionalOf(${text})`)
}

function writeList(writer: Writer, plan: Plan & { kind: 'list' }): Code {
  const items = plan.items.map(({ value }) => writer.settled(value))
  const texts = items.map(({ text }) => text).join(', ')
  const optional = flagsOf(plan.items)
  if (optional === null && !items.some(({ fails }) => fails)) return sure(`[${texts}]`)
  return unsure(`F.withOffset(F.makeList([${texts}], ${constantOrNull(writer, optional)}), ${plan.offset})`)
}

function writeMap(writer: Writer, plan: Plan & { kind: 'map' }): Code {
  const parts = plan.entries.flatMap(({ key, value }) => [writer.value(key), writer.value(value)])
  const optional = constantOrNull(writer, flagsOf(plan.entries))
  return unsure(`F.withOffset(F.makeMap([${parts.join(', ')}], ${optional}), ${plan.offset})`)
}

function writeDefault(writer: Writer, plan: Plan & { kind: 'default' }): Code {
  const { set, name } = writer.hold(writer.write(plan.value))
  const fallback = writer.value(plan.fallback)
  return unsure(`(${set} == null || (${name} instanceof E && F.isMissing(${name})) ? ${fallback} : ${name})`)
}

function writeCoalesce(writer: Writer, plans: readonly Plan[]): Code {
  const items = plans.map((item) => writer.hold(writer.write(item)))
  const text = items.reduceRight(
    (rest, { set, name }) => `(${set} != null && !(${name} instanceof E) ? ${name} : ${rest})`,
    'null',
  )
  return sure(text)
}

function writeOrElse(writer: Writer, plan: Plan & { kind: 'orElse' }): Code {
  const code = writer.write(plan.operand)
  const { set, name } = writer.hold(code)
  const full = plan.unwrap ? `${name}.value` : name
  const wrong = `F.withOffset(F.notOptional(${withMissing(code, name)}), ${plan.offset})`
  const alternative = writer.value(plan.alternative)
  return unsure(`(${set} instanceof T ? ${name}.value === undefined ? ${alternative} : ${full} : ${wrong})`)
}

function writeOptionalMap(writer: Writer, plan: Plan & { kind: 'optionalMap' }): Code {
  const code = writer.write(plan.operand)
  const { set, name } = writer.hold(code)
  const local = writer.variable(`v${plan.local}`)
  const result = `F.withOffset(F.mapped(${writer.value(plan.body)}, ${plan.flat}), ${plan.offset})`
  const wrong = `F.withOffset(F.notOptional(${withMissing(code, name)}), ${plan.offset})`
  return unsure(
    `(${set} instanceof T ? ${name}.value === undefined ? ${name} : (${local} = ${name}.value, ${result}) : ${wrong})`,
  )
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
