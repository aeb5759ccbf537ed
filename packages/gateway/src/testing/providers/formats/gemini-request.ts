import { z } from 'zod'
import { invalid } from '../answer.ts'
import type { ParsedRequest, ParsedPart, Turn } from '../parsed-request.ts'
import { check, type Complaints, dotted } from '../check.ts'
import { isSignedBy } from '../signatures.ts'
import { schemaSchema, type SchemaNode } from './gemini-schema.ts'

/** Reads generateContent; the model and whether it streams stand in the path. */
export function readGenerateContent(body: unknown, model: string, streamed: boolean): ParsedRequest {
  const request = check(requestSchema, body, geminiComplaints)
  const turns = request.contents.map((content, at) => turnOf(content, at, model))
  expectTurns(turns)
  const config = request.generationConfig ?? {}
  const declarations = (request.tools ?? []).flatMap((tool) => tool.functionDeclarations)
  const calling = request.toolConfig?.functionCallingConfig
  return {
    model,
    streamed,
    system: (request.systemInstruction?.parts ?? []).map((part) => part.text).join('\n'),
    turns,
    tools: declarations.map((tool) => ({
      name: tool.name,
      description: tool.description ?? null,
      schema: tool.parametersJsonSchema ?? lowerCased(tool.parameters ?? {}),
    })),
    toolChoice: choiceOf(calling),
    parallelTools: null,
    settings: {
      maxTokens: config.maxOutputTokens ?? null,
      temperature: config.temperature ?? null,
      topP: config.topP ?? null,
      topK: config.topK ?? null,
      stop: config.stopSequences ?? [],
    },
    reasoning: thinkingOf(config.thinkingConfig, model),
    schema:
      config.responseJsonSchema ?? (config.responseSchema === undefined ? null : lowerCased(config.responseSchema)),
    choices: config.candidateCount ?? 1,
  }
}

export const geminiComplaints: Complaints = {
  unknown: (path, name) =>
    `Invalid JSON payload received. Unknown name "${name}"${path.length === 0 ? '' : ` at '${dotted(path)}'`}: Cannot find field.`,
  wrong: (path, message) => `Invalid value at '${dotted(path)}': ${message}`,
}

/** Gemini 3 wants the signatures of its calls back. */
export function wantsSignatures(model: string): boolean {
  return model.startsWith('gemini-3')
}

type Content = z.infer<typeof contentSchema>
type ThinkingConfig = z.infer<typeof thinkingSchema>

function turnOf({ role, parts }: Content, at: number, model: string): Turn {
  const isFirstCall = (index: number): boolean => !parts.slice(0, index).some((part) => 'functionCall' in part)
  return {
    role: role === 'model' ? 'assistant' : 'user',
    parts: parts.flatMap((part, index): ParsedPart[] => {
      const isSigned = checkSignature(part, isFirstCall(index), at, model)
      return isSigned ? [{ type: 'reasoning', text: '', isSigned }, partOf(part)] : [partOf(part)]
    }),
  }
}

function partOf(part: Content['parts'][number]): ParsedPart {
  if ('functionCall' in part) {
    const { id, name, args } = part.functionCall
    return { type: 'call', id: id ?? null, name, arguments: args ?? {} }
  }
  if ('functionResponse' in part) {
    const { id, name, response } = part.functionResponse
    const failure = response.error
    const text = resultText(failure ?? response.result ?? response.output ?? response.content ?? response)
    return { type: 'result', id: id ?? null, name, text, isError: failure !== undefined }
  }
  if ('inlineData' in part) return { type: 'image', mediaType: part.inlineData.mimeType, data: part.inlineData.data }
  if ('fileData' in part) return { type: 'imageUrl', url: part.fileData.fileUri }
  if (part.thought === true) return { type: 'reasoning', text: part.text, isSigned: false }
  return { type: 'text', text: part.text }
}

function resultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function checkSignature(part: Content['parts'][number], isFirstCall: boolean, at: number, model: string): boolean {
  const signature = 'thoughtSignature' in part ? part.thoughtSignature : undefined
  if (signature !== undefined) {
    if (signature !== SKIP && !isSignedBy('google', 'thought', signature))
      throw invalid('Thought signature is not valid')
    return true
  }
  if ('functionCall' in part && isFirstCall && wantsSignatures(model)) {
    throw invalid(
      `Function call is missing a thought_signature in functionCall parts. Function call \`default_api:${part.functionCall.name}\`, position ${at + 1}.`,
    )
  }
  return false
}

function expectTurns(turns: readonly Turn[]): void {
  for (const [at, turn] of turns.entries()) {
    const calls = count(turns[at - 1], 'call')
    const results = count(turn, 'result')
    if (turn.role === 'user' && calls !== results) {
      throw invalid(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    }
    if (turn.role === 'assistant' && count(turn, 'call') > 0 && turns[at - 1]?.role !== 'user') {
      throw invalid(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    }
  }
}

function count(turn: Turn | undefined, type: ParsedPart['type']): number {
  return (turn?.parts ?? []).filter((part) => part.type === type).length
}

function choiceOf(calling: z.infer<typeof callingSchema> | undefined): ParsedRequest['toolChoice'] {
  switch (calling?.mode) {
    case undefined:
      return null
    case 'AUTO':
    case 'VALIDATED':
      return 'auto'
    case 'NONE':
      return 'none'
    case 'ANY': {
      const [name, ...others] = calling.allowedFunctionNames ?? []
      return name !== undefined && others.length === 0 ? { name } : 'required'
    }
  }
}

function thinkingOf(config: ThinkingConfig | undefined, model: string): ParsedRequest['reasoning'] {
  if (config === undefined || config.thinkingBudget === 0) return null
  if (config.thinkingLevel !== undefined && !wantsSignatures(model)) {
    throw invalid('Thinking level is not supported for this model.')
  }
  return {
    ...(config.thinkingBudget !== undefined && { budget: config.thinkingBudget }),
    ...(config.thinkingLevel !== undefined && { effort: config.thinkingLevel.toLowerCase() }),
    isShown: config.includeThoughts === true,
  }
}

/** Types of the vendor's schemas are capital letters; small ones are taken too. */
function lowerCased(node: SchemaNode): object {
  const { properties, items, anyOf, type, ...rest } = node
  return {
    ...rest,
    ...(type !== undefined && { type: type.toLowerCase() }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, lowerCased(inner)])),
    }),
    ...(items !== undefined && { items: lowerCased(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(lowerCased) }),
  }
}

/** The signature that Google documents for calls of another model. */
const SKIP = 'skip_thought_signature_validator'

const anyJson = z.record(z.string(), z.unknown())
const callName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/)
const signature = z.string().optional()

const contentSchema = z.strictObject({
  role: z.enum(['user', 'model', 'function']).default('user'),
  parts: z
    .array(
      z.union([
        z.strictObject({ text: z.string().min(1), thought: z.boolean().optional(), thoughtSignature: signature }),
        z.strictObject({
          inlineData: z.strictObject({ mimeType: z.string().min(1), data: z.base64() }),
          thoughtSignature: signature,
        }),
        z.strictObject({ fileData: z.strictObject({ mimeType: z.string().min(1), fileUri: z.string() }) }),
        z.strictObject({
          functionCall: z.strictObject({ id: z.string().optional(), name: callName, args: anyJson.optional() }),
          thoughtSignature: signature,
        }),
        z.strictObject({
          functionResponse: z.strictObject({ id: z.string().optional(), name: callName, response: anyJson }),
        }),
      ]),
    )
    .min(1),
})

const thinkingSchema = z.strictObject({
  includeThoughts: z.boolean().optional(),
  thinkingBudget: z.int().min(-1).optional(),
  thinkingLevel: z.enum(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'minimal', 'low', 'medium', 'high']).optional(),
})

const callingSchema = z.strictObject({
  mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
  allowedFunctionNames: z.array(callName).optional(),
})

const requestSchema = z.strictObject({
  contents: z.array(contentSchema).min(1),
  systemInstruction: z
    .strictObject({ role: z.string().optional(), parts: z.array(z.strictObject({ text: z.string() })) })
    .optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: callName,
            description: z.string().optional(),
            parameters: schemaSchema.optional(),
            parametersJsonSchema: anyJson.optional(),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: z.strictObject({ functionCallingConfig: callingSchema.optional() }).optional(),
  generationConfig: z
    .strictObject({
      candidateCount: z.int().min(1).max(8).optional(),
      frequencyPenalty: z.number().optional(),
      maxOutputTokens: z.int().min(1).optional(),
      presencePenalty: z.number().optional(),
      responseJsonSchema: anyJson.optional(),
      responseMimeType: z.string().optional(),
      responseModalities: z.array(z.string()).optional(),
      responseSchema: schemaSchema.optional(),
      seed: z.int().optional(),
      stopSequences: z.array(z.string()).max(5).optional(),
      temperature: z.number().min(0).max(2).optional(),
      thinkingConfig: thinkingSchema.optional(),
      topK: z.number().optional(),
      topP: z.number().optional(),
    })
    .optional(),
  safetySettings: z.array(z.unknown()).optional(),
  cachedContent: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
})
