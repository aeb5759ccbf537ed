import { indexAt, type JsonNode, nodeAt, textNodeAt } from '@portico/http/json'
import { type NativeTexts, type TextStep, TextWalk } from '../../texts/native-texts.ts'

/** The texts of all choices, each choice by itself, and of vendor-specific members beside the choices. */
export const completionsTexts: NativeTexts = {
  record: (root) => readTexts(root, false),
  whole: (root) => readTexts(root, true),
  repeats: false,
}

function readTexts(root: JsonNode, isWhole: boolean): TextStep[] {
  const walk = new TextWalk(isWhole)
  if (root.kind !== 'object') return walk.steps
  for (const { name, value } of root.members) {
    if (name === 'error' && value.kind === 'object') walk.end('')
    else if (name === 'choices' && value.kind === 'list') {
      for (const [at, choice] of value.items.entries()) readChoice(walk, choice, indexAt(choice, 'index') ?? at)
    } else if (!OWN_MEMBERS.has(name)) walk.walk(value, name, name, true)
  }
  return walk.steps
}

function readChoice(walk: TextWalk, choice: JsonNode, index: number): void {
  const name = `choices.${index}`
  walk.end(`${name}.`, openTexts(nodeAt(choice, 'delta'), `${name}.delta`))
  if (choice.kind !== 'object') return
  for (const member of choice.members) {
    const isSaid = member.name === 'delta' || member.name === 'message'
    if (isSaid) walk.walk(member.value, `${name}.${member.name}`, `${name}.${member.name}.reasoning`)
    else walk.member(member, name, { signed: `${name}.`, isWhole: true })
  }
  if (textNodeAt(choice, 'finish_reason') !== undefined) walk.end(`${name}.`)
}

/**
 * The texts that stay open after this record. One text is open at a time unless a record has several; tool calls
 * alternate.
 */
function openTexts(delta: JsonNode | undefined, name: string): string[] {
  if (delta?.kind !== 'object') return [`${name}.`]
  const said = delta.members.filter(({ name: member, value }) => member !== 'role' && isSomething(value))
  return said.length === 0 ? [`${name}.`] : said.map((member) => `${name}.${member.name}`)
}

function isSomething(node: JsonNode): boolean {
  if (node.kind === 'text') return node.value !== ''
  return node.kind === 'list' ? node.items.length > 0 : node.kind === 'object' && node.members.length > 0
}

const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
  'usage',
  'error',
])
