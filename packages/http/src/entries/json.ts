/** `@portico/http/json`: JSON that is read without loss and changed byte by byte. */
export { hasLargeNumber, parseExactJson, parseExactObject } from '../json/exact-json.ts'
export { countMembers, findMembers, type JsonMember, type JsonMembers } from '../json/json-members.ts'
export {
  indexAt,
  type JsonMemberNode,
  type JsonNode,
  type ListNode,
  nodeAt,
  type ObjectNode,
  type TextRange,
  readJsonTree,
  replaceAt,
  textNodeAt,
} from '../json/json-tree.ts'
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
} from '../json/json.ts'
export { applyEdits, joinEdits, type MemberEdits, NO_EDITS } from '../json/member-edits.ts'
export { type SplicedText, spliceJson } from '../json/splice-json.ts'
