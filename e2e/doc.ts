import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { features } from '../packages/gateway/src/testing/sdk-clients/checks.ts'
import { clients } from './clients.ts'
import type { Ledger } from './ledger.ts'
import { limits } from './limits.ts'
import { nativeClients, nativeTargets } from './native-cells.ts'
import { type Target, targets } from './targets.ts'

const FILE = fileURLToPath(new URL('../docs/llm-matrix.md', import.meta.url))

/**
 * Runs after the other tests: compares the page with the results. A stale page is rewritten, and the test fails once.
 */
export function docCell(ledger: Ledger): void {
  it('docs/llm-matrix.md tells what this run found', () => {
    const page = pageOf(ledger)
    if (readPage() === page) return
    writeFileSync(FILE, page)
    assert.fail('docs/llm-matrix.md was stale and has been written anew')
  })
}

function readPage(): string {
  try {
    return readFileSync(FILE, 'utf8')
  } catch {
    return ''
  }
}

function pageOf(ledger: Ledger): string {
  const marks = (client: string, among: Target[]): string[] => among.map(({ name }) => ledger.mark(client, name))
  return `# Clients and providers

<!-- Written by \`node --test e2e/matrix.test.ts\`; do not edit. -->

Every cell is a client library, unchanged but for its base URL, through a gateway to a provider. The number counts the
checks that passed, each of them with a whole and with a streamed answer: ${features.map(({ name }) => name).join(', ')},
and the tokens as the gateway counted them. The providers are stand-ins on loopback that refuse what the vendor refuses;
the vendor's own library, pointed straight at them, passes the same checks.

${table(
  ['Client', ...targets.map(({ name }) => name)],
  clients.map(({ name }) => [name, ...marks(name, targets)]),
)}
Google's own format goes through as it is, on a route of type \`Detect\` or \`Passthrough\`:

${table(
  ['Client', ...nativeTargets.map(({ name }) => name)],
  nativeClients.map(({ name }) => [name, ...marks(name, nativeTargets)]),
)}
## What is the same everywhere

Text, tool calls (with ids, names and arguments as they were made), results, inline images, structured output, stop
reasons, usage with cached tokens, errors with the provider's status and message in the client's own format.

## What the vendors differ in

| What | Where | What a client sees |
|---|---|---|
| Reasoning text | OpenAI's chat completions do not show it | its tokens only |
| Reasoning text of OpenAI's responses | \`api.openai.com\` shows it only to verified organizations | clients of Messages request it with \`display: summarized\`; on Azure they need not |
| Reasoning that was handed back | \`@ai-sdk/openai\` chat keeps none | the next turn with a tool result is asked without reasoning where the provider would refuse it |
| Tokens of reasoning | Bedrock does not count them | absent |
| Tokens written to caches | Gemini does not count them | absent |
| Stop sequences | OpenAI's responses have none; OpenAI and Gemini do not say that one ended the answer | left out, and listed in the trace; \`stop\`, \`end_turn\` |
| Structured output | Claude before 4.5 (on Vertex AI before 4.6), and on Bedrock models of Amazon, Meta, Cohere and AI21, refuse schemas | the schema is asked for in words, and listed in the trace |
| Refusals | only OpenAI tells them from filtered answers | \`refusal\` of the message, else the word for filtered |

## What cannot be carried

A request with one of these is answered with 400 and the name of the field; the provider is not asked.

${table(
  ['What', 'Why', 'Providers'],
  limits.map(({ what, why, asks, refusedBy }) => {
    const formats = Object.keys(asks) as (keyof typeof asks)[]
    const refusing = targets.flatMap((target) => {
      const refused = formats.filter((format) => refusedBy(target.upstream[format], target))
      if (refused.length === 0) return []
      return refused.length === formats.length
        ? [target.name]
        : [`${target.name} (of clients of ${refused.join(', ')})`]
    })
    return [what, why, refusing.join(', ')]
  }),
)}`
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}
