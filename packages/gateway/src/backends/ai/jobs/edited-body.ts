import { joinEdits, type MemberEdits, NO_EDITS, spliceJson } from '@portico/http/json'
import type { Json, JsonObject } from '@portico/chat'
import type { EditedRequest } from '../../../llm/edits/request-edits.ts'
import type { JsonBody } from '../client-request.ts'
import type { GuardedParts } from './whole-call.ts'

/** A client's body after the edits of the policy, and after guards. */
interface CheckedBody {
  model: string
  /** The body, for translations. */
  value: JsonObject
  /** The body as bytes, after further edits: members that did not change keep those of the client. */
  bytes: (more?: MemberEdits) => Buffer
}

export function checkedBody(body: JsonBody, edited: EditedRequest, guarded: GuardedParts = {}): CheckedBody {
  const { model, edits, body: before } = edited
  const value = guarded.body ?? before
  const bytes = (more: MemberEdits = NO_EDITS): Buffer =>
    spliceJson(body, joinEdits(edits, masksOf(before, value), more))
  return { model, value, bytes }
}

/** The members that a guard has changed. */
export function masksOf(before: JsonObject, after: JsonObject): ReadonlyMap<string, Json | undefined> {
  const masks = new Map<string, Json | undefined>()
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) masks.set(name, undefined)
  for (const [name, value] of Object.entries(after)) if (before[name] !== value) masks.set(name, value)
  return masks
}
