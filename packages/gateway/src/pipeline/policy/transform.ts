import { isCelError, type Result, toJson } from '@portico/cel'
import type { EditableMessage } from './editable-message.ts'
import { type Expression, type ExpressionPhase } from '../expression/expression.ts'
import { headerLine, headerLines } from '../views/header-lines.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Env } from '../context/step.ts'

/** The changes to one message in the config. */
interface TransformConfig {
  set?: readonly HeaderConfig[] | undefined
  add?: readonly HeaderConfig[] | undefined
  remove?: readonly string[] | undefined
  body?: string | undefined
  metadata?: Readonly<Record<string, string>> | undefined
}

interface HeaderConfig {
  name: string
  value: string
}

interface Transform {
  /** Every expression sees the changes made before it. */
  apply(message: EditableMessage, rx: RequestContext): void
}

export function createTransform(config: TransformConfig, env: Env, phase: ExpressionPhase): Transform {
  const isPart = phase === 'response' ? isStatusPart : isRequestPart
  const compile = ({ name, value }: HeaderConfig): HeaderExpression => {
    return { name, value: env.cel(value, phase), isPart: isPart(name) }
  }
  const metadata = Object.entries(config.metadata ?? {}).map(([name, value]) => compile({ name, value }))
  const add = (config.add ?? []).map(compile)
  const set = (config.set ?? []).map(compile)
  const remove = config.remove ?? []
  const body = config.body === undefined ? null : env.cel(config.body, phase)
  return {
    apply(message, rx) {
      for (const { name, value } of metadata) setMetadata(rx, name, value.evaluate(rx))
      for (const header of add) addHeader(message, header, rx)
      for (const header of set) setHeader(message, header, rx)
      for (const name of remove) message.headers.removeAlike(name)
      if (body !== null) message.replaceBody(() => bodyBytes(body.evaluate(rx), rx))
    },
  }
}

interface HeaderExpression {
  name: string
  value: Expression
  /** Whether the name is a part of the first line. */
  isPart: boolean
}

/** Whether a name is a part of the first line; `host` sets the authority. */
function isRequestPart(name: string): boolean {
  return name.startsWith(':') || name === 'host'
}

function isStatusPart(name: string): boolean {
  return name.startsWith(':')
}

/** Sets metadata as plain data, because traces, logs and later expressions read it when its source may be gone. */
function setMetadata(rx: RequestContext, name: string, result: Result): void {
  if (isCelError(result)) return failed(rx, `metadata ${name}`, result)
  // A new object each time, so that earlier snapshots stay unchanged.
  rx.metadata = { ...rx.metadata, [name]: toJson(result) }
}

function addHeader(message: EditableMessage, header: HeaderExpression, rx: RequestContext): void {
  const result = header.value.evaluate(rx)
  if (header.isPart) return setPart(message, header.name, result, rx)
  const lines = headerLines(result)
  if (lines === null) failed(rx, `header ${header.name}`, result)
  else for (const line of lines) message.headers.addChecked(header.name, line)
}

/** A header whose expression fails is removed, so that a client cannot send its own value in its place. */
function setHeader(message: EditableMessage, header: HeaderExpression, rx: RequestContext): void {
  const result = header.value.evaluate(rx)
  if (header.isPart) return setPart(message, header.name, result, rx)
  message.headers.removeAlike(header.name)
  const lines = headerLines(result)
  if (lines === null) failed(rx, `header ${header.name}`, result)
  else for (const line of lines) message.headers.addChecked(header.name, line)
}

/** Sets a part of the first line; an invalid value leaves the part unchanged, because a message needs a first line. */
function setPart(message: EditableMessage, name: string, result: Result, rx: RequestContext): void {
  const value = headerLine(result)
  if (value === null || !message.setPart(name, value)) failed(rx, `header ${name}`, result)
}

function bodyBytes(result: Result, rx: RequestContext): Buffer {
  if (isCelError(result)) {
    failed(rx, 'body', result)
    return Buffer.alloc(0)
  }
  if (typeof result === 'string') return Buffer.from(result)
  if (result instanceof Uint8Array) return Buffer.from(result.buffer, result.byteOffset, result.length)
  return Buffer.from(JSON.stringify(toJson(result)))
}

function failed(rx: RequestContext, what: string, result: Result): void {
  rx.trace?.note({
    [`${what} failed`]: isCelError(result) ? result.message : 'the value has the wrong type or characters',
  })
}
