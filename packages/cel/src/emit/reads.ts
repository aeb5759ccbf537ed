import { CelError } from '../error.ts'
import type { Path, Plan } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import { missingField, missingPath } from './errors.ts'
import type { Code, Writer } from './writer.ts'
import { withMissing } from './writer.ts'

/** Writes `c["request"]?.["headers"]?.get("x-team")`: it allocates nothing, and absent values are undefined. */
export function writePath(writer: Writer, path: Path): Code {
  const missing = path.kind === 'root' ? 'null' : writer.constant(missingPath(path))
  return { text: chain(path), missing, fails: path.kind !== 'root' }
}

function chain(path: Path): string {
  const name = JSON.stringify(path.name)
  // Such names exist on every object.
  const isUnsafe = path.name in Object.prototype
  if (path.kind === 'root') return isUnsafe ? `F.readHost(c, ${name})` : `c[${name}]`
  const parent = chain(path.parent)
  if (path.kind === 'header') return `${parent}?.get(${name})`
  return isUnsafe ? `F.readHost(${parent}, ${name})` : `${parent}?.[${name}]`
}

/** Writes a struct as a map. */
export function writeView(writer: Writer, path: Path): Code {
  const type = typeOfPath(path)
  return { ...writePath(writer, path), text: `F.viewOf(${chain(path)}, ${writer.constant(type)})` }
}

export function writeSelect(writer: Writer, plan: Plan & { kind: 'select' }): Code {
  const missing = writer.constant(missingField(plan))
  return readKey(writer, plan.operand, plan.field, {
    missing,
    fast: (value) => value,
    slow: (operand) => `F.withOffset(F.select(${operand}, ${JSON.stringify(plan.field)}, ${missing}), ${plan.offset})`,
  })
}

export function writeHas(writer: Writer, plan: Plan & { kind: 'has' }): Code {
  return readKey(writer, plan.operand, plan.field, {
    missing: null,
    fast: (value) => `${value} !== undefined`,
    slow: (operand) => `F.withOffset(F.has(${operand}, ${JSON.stringify(plan.field)}), ${plan.offset})`,
  })
}

export function writeIndex(writer: Writer, plan: Plan & { kind: 'index' }): Code {
  const { operand, key, offset } = plan
  if (key.kind === 'constant' && typeof key.value === 'string') {
    const text = JSON.stringify(key.value)
    return readKey(writer, operand, key.value, {
      missing: writer.constant(new CelError('no_such_key', `no such key: ${key.value}`, offset)),
      fast: (value) => value,
      slow: (map) => `F.withOffset(F.index(${map}, ${text}), ${offset})`,
    })
  }
  if (key.kind === 'constant' && typeof key.value === 'number' && Number.isSafeInteger(key.value) && key.value >= 0) {
    const code = writer.write(operand)
    const { set, name } = writer.hold(code)
    const slow = `F.withOffset(F.index(${withMissing(code, name)}, ${key.value}), ${offset})`
    return {
      text: `((Array.isArray(${set}) ? ${name}[${key.value}] : undefined) ?? ${slow})`,
      missing: null,
      fails: true,
    }
  }
  const text = `F.withOffset(F.index(${writer.value(operand)}, ${writer.value(key)}), ${offset})`
  return { text, missing: null, fails: true }
}

interface KeyRead {
  missing: string | null
  fast: (value: string) => string
  slow: (operand: string) => string
}

/**
 * Plain objects are read inline, so that each site has its own inline cache. A value found there is an own property,
 * because the prototype is Object.prototype and has no such name. Everything else takes the slow path.
 */
function readKey(writer: Writer, operand: Plan, key: string, { missing, fast, slow }: KeyRead): Code {
  const code = writer.write(operand)
  const { set, name } = writer.hold(code)
  if (key in Object.prototype) {
    return { text: `(${set}, ${slow(withMissing(code, name))})`, missing: null, fails: true }
  }
  const text = JSON.stringify(key)
  const isPlain = `typeof ${set} === "object" && ${name} !== null && ${name}.constructor === O && P[${text}] === undefined`
  return { text: `(${isPlain} ? ${fast(`${name}[${text}]`)} : ${slow(withMissing(code, name))})`, missing, fails: true }
}
