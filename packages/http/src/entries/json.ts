/** `@portico/http/json`: JSON that is read without loss and changed byte by byte. */
export { hasLargeNumber, parseExactJson, parseExactObject } from '../wire/exact-json.ts'
export { countMembers, findMembers, type JsonMember, type JsonMembers } from '../wire/json-members.ts'
export {
  indexAt,
  type JsonMemberNode,
  type JsonNode,
  type ListNode,
  nodeAt,
  type ObjectNode,
  type Place,
  readJsonTree,
  replaceAt,
  textNodeAt,
} from '../wire/json-tree.ts'
export {
  countAt,
  countNames,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  parseJson,
  parseJsonObject,
  put,
  textAt,
  withoutAbsent,
} from '../wire/json.ts'
export { applyEdits, joinEdits, type MemberEdits, NO_EDITS } from '../wire/member-edits.ts'
export { type SplicedText, spliceJson } from '../wire/splice-json.ts'
