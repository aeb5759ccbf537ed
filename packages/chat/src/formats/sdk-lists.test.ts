import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SdkTypes } from '../testing/sdk-types.ts'
import { blockFates } from '../translate/block-fates.ts'
import { blocks, resultBlocks } from './messages/request-texts.ts'
import { contentParts as completionsParts } from './completions/request-texts.ts'
import { partMembers } from './gemini/client/request-texts.ts'
import { contentParts as responsesParts, items } from './responses/request-texts.ts'
import { type ClientFormatName, requestMembers } from '../request/request-members.ts'

/** Our lists contain every type of the installed SDKs: a new SDK version fails here, not at a client. */

const anthropic = new SdkTypes('@anthropic-ai/sdk', 'resources/messages/messages.d.ts')
const anthropicBeta = new SdkTypes('@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts')
const chat = new SdkTypes('openai', 'resources/chat/completions/completions.d.ts')
const openai = new SdkTypes('openai', 'resources/responses/responses.d.ts')

const google = new SdkTypes('@google/genai', 'node.d.ts')

/** Members that stand beside `generationConfig` on the wire. */
const besideConfig = new Set([
  ...['systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'labels', 'cachedContent', 'serviceTier', 'store'],
  ...['continuationToken', 'modelArmorConfig', 'generationOutputConfig'],
])
/** Settings of the library itself. */
const ofLibrary = new Set(['httpOptions', 'abortSignal', 'automaticFunctionCalling', 'automaticContinuation'])

function googleMembers(): string[] {
  const config = [...google.membersOf('GenerateContentConfig'), ...google.membersOf('GenerationConfig')]
  const onTheWire = config.filter((name) => !ofLibrary.has(name))
  return [
    ...['model', 'stream', 'contents', 'generationConfig'],
    ...onTheWire.map((name) => (besideConfig.has(name) ? name : `generationConfig.${name}`)),
    ...google
      .membersOf('ToolConfig')
      .filter((name) => name !== 'functionCallingConfig')
      .map((name) => `toolConfig.${name}`),
  ]
}

/** Members of a part that describe its content. */
const descriptions = new Set([
  ...['thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution', 'partMetadata', 'mediaProcessing'],
  'speechMetadata',
])

const members: Readonly<Record<ClientFormatName, readonly string[]>> = {
  completions: chat.membersOf('ChatCompletionCreateParamsBase'),
  messages: [...anthropic.membersOf('MessageCreateParamsBase'), ...anthropicBeta.membersOf('MessageCreateParamsBase')],
  responses: openai.membersOf('ResponseCreateParamsBase'),
  gemini: googleMembers(),
}

const types: Readonly<Record<ClientFormatName, readonly string[]>> = {
  completions: chat.typesOf('ChatCompletionContentPart'),
  messages: [
    ...anthropic.typesOf('ContentBlockParam'),
    ...anthropicBeta.typesOf('BetaContentBlockParam'),
    ...anthropicBeta.typesIn('BetaToolResultBlockParam', 'content'),
  ],
  responses: [...openai.typesOf('ResponseInputItem'), ...openai.typesOf('ResponseInputContent')],
  gemini: google.membersOf('Part').filter((name) => !descriptions.has(name)),
}

const readings: Readonly<Record<ClientFormatName, object>> = {
  completions: completionsParts,
  messages: { ...blocks, ...resultBlocks },
  responses: { ...items, ...responsesParts },
  gemini: partMembers,
}

for (const format of ['completions', 'messages', 'responses', 'gemini'] as const) {
  describe(`the SDK of ${format}`, () => {
    test('is read at all', () => {
      assert.ok(members[format].length > 20 && types[format].length >= 4, `${members[format].length} members`)
      assert.ok(members[format].includes('model') && members[format].includes('tools'))
    })

    test('has no member of a request that is neither carried, lossy nor refused', () => {
      const unknown = members[format].filter((name) => !Object.hasOwn(requestMembers[format], name))
      assert.deepEqual([...new Set(unknown)], [])
    })

    test('still has the members that are lost or refused', () => {
      const listed = Object.entries(requestMembers[format]).filter(([, fate]) => fate !== 'carried')
      const stale = listed.map(([name]) => name).filter((name) => !members[format].includes(name))
      assert.deepEqual(stale, [])
    })

    test('has no type of block that is neither carried, lossy nor refused', () => {
      assert.deepEqual(
        types[format].filter((type) => !Object.hasOwn(blockFates[format], type)),
        [],
      )
    })

    test('has no type of block that guards do not know', () => {
      assert.deepEqual(
        types[format].filter((type) => !Object.hasOwn(readings[format], type)),
        [],
      )
    })
  })
}

test('guards know every member of a part of Gemini', () => {
  assert.deepEqual(
    google.membersOf('Part').filter((name) => !Object.hasOwn(partMembers, name)),
    [],
  )
})
