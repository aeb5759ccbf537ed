import { isObject, objectAt, objectsAt, textAt } from '../../../wire/json.ts'
import type { Json, JsonObject } from '../../middle.ts'
import type { GuardPhase, TextInfo, Verdict } from '../guard.ts'
import { PASS } from '../guard.ts'

/** The texts as the webhook gets them. */
export function wireBody(texts: readonly string[], phase: GuardPhase, about: readonly TextInfo[]): JsonObject {
  const messages = texts.map((content, index): JsonObject => ({ role: about[index]!.role, content }))
  if (phase === 'request') return { body: { messages } }
  return { body: { choices: messages.map((message): JsonObject => ({ message })) } }
}

/** Verdicts are told apart by their shape. `reason` is for people, and may repeat the texts: it is not kept. */
export function readAnswer(answer: JsonObject, phase: GuardPhase): Verdict {
  const { action } = answer
  if (!isObject(action)) return UNREADABLE
  const { body } = action
  if (isObject(body)) return readMask(body, phase)
  if (typeof body === 'string') return readRejection(body, action['status_code'])
  return body === undefined || body === null ? PASS : UNREADABLE
}

function readMask(body: JsonObject, phase: GuardPhase): Verdict {
  const messages =
    phase === 'request'
      ? objectsAt(body, 'messages')
      : objectsAt(body, 'choices').map((choice) => objectAt(choice, 'message'))
  const texts = messages.map((message) => textAt(message, 'content'))
  return texts.every((text) => text !== undefined) ? { kind: 'mask', texts, found: [] } : UNREADABLE
}

function readRejection(body: string, status: Json | undefined): Verdict {
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return UNREADABLE
  return { kind: 'reject', status, body, found: [], reason: 'the webhook rejected it' }
}

const UNREADABLE: Verdict = { kind: 'failed', reason: 'the webhook gave an answer that nobody understands' }
