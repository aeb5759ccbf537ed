import { Document, isAlias, isMap, isScalar, isSeq, parseDocument, visit, type YAMLMap, YAMLSeq } from 'yaml'
import { llmBind } from './expand-llm.ts'

/**
 * The text of a valid config with `llm` in its long form. Comments and variables stay, so no secret of the environment is
 * printed.
 */
export function printExpanded(text: string): string {
  const parsed = parseDocument(text, { stringKeys: true })
  // A moved anchor could stand below its aliases.
  const document = hasAliases(parsed) ? new Document(parsed.toJS()) : parsed
  const root = document.contents
  if (isMap(root)) expand(root, document)
  return String(document)
}

function hasAliases(document: Document.Parsed): boolean {
  let found = false
  visit(document, (_key, node) => {
    found ||= isAlias(node)
  })
  return found
}

function expand(root: YAMLMap, document: Document): void {
  const llm = root.get('llm', true) as unknown
  if (!isMap(llm)) return
  const members = Object.fromEntries(llm.items.map(({ key, value }) => [String(key), value ?? undefined]))
  const bind = document.createNode(llmBind(members))
  bind.commentBefore = ' The long form of `llm`.'
  const binds = root.get('binds', true) as unknown
  if (isSeq(binds)) {
    binds.add(bind)
    root.delete('llm')
    return
  }
  root.delete('binds')
  const pair = root.items.find(({ key }) => String(key) === 'llm')
  if (pair === undefined || !isScalar(pair.key)) return
  // The key keeps its comment.
  pair.key.value = 'binds'
  const list = new YAMLSeq()
  list.items.push(bind)
  pair.value = list
}
