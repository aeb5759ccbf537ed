import type { OpenAiCall } from './openai-calls.ts'

/** A vendor or a server that imitates the API of OpenAI, as data. All of them take the key as a bearer token. */
export interface Preset {
  /** The name for people. */
  readonly title: string
  /** Null when the server runs on a machine of the user, so that the config must set `host`. */
  readonly host: string | null
  readonly port: number
  /** The path before the name of each call. */
  readonly path: string
  /** The environment variable that the vendor's documentation uses for the key; null when servers need no key. */
  readonly keyVariable: string | null
  /** The chat formats, the best first. Requests in other formats are translated. */
  readonly formats: readonly ['completions', ...'responses'[]]
  /** Deviations from Chat Completions: names that the encoder of that format lists. */
  readonly quirks: readonly string[]
  readonly hasEmbeddings: boolean
  /** The further calls of OpenAI's API that the vendor documents; absent when there are none. */
  readonly calls?: readonly OpenAiCall[]
  /** The rerank format, and the path of rerank calls when it is not below `path`; absent without such calls. */
  readonly rerank?: { readonly kind: 'same' | 'cohere'; readonly path?: string }
  readonly hasModelList: boolean
}

const COMPLETIONS = { formats: ['completions'], quirks: [], hasEmbeddings: false, hasModelList: true } as const
const WITH_RESPONSES = { ...COMPLETIONS, formats: ['completions', 'responses'] } as const
const VENDOR = { ...COMPLETIONS, port: 443, path: '/v1' } as const
const VENDOR_WITH_RESPONSES = { ...WITH_RESPONSES, port: 443, path: '/v1' } as const
const OWN_SERVER = { ...WITH_RESPONSES, host: null, path: '/v1', keyVariable: null, hasEmbeddings: true } as const

export const presets = {
  baseten: { ...VENDOR, title: 'Baseten', host: 'inference.baseten.co', keyVariable: 'BASETEN_API_KEY' },
  cerebras: {
    ...VENDOR,
    title: 'Cerebras',
    host: 'api.cerebras.ai',
    keyVariable: 'CEREBRAS_API_KEY',
    quirks: ['noReasoningHistory'],
  },
  cohere: {
    ...VENDOR,
    title: 'Cohere',
    host: 'api.cohere.ai',
    path: '/compatibility/v1',
    keyVariable: 'COHERE_API_KEY',
    hasEmbeddings: true,
    rerank: { kind: 'cohere', path: '/v2/rerank' },
    hasModelList: false,
  },
  deepinfra: {
    ...VENDOR,
    title: 'DeepInfra',
    host: 'api.deepinfra.com',
    path: '/v1/openai',
    keyVariable: 'DEEPINFRA_API_KEY',
    calls: ['imageGenerations', 'imageEdits', 'imageVariations', 'speech', 'transcriptions', 'translations'],
    quirks: ['topK'],
    hasEmbeddings: true,
  },
  deepseek: {
    ...VENDOR,
    title: 'DeepSeek',
    host: 'api.deepseek.com',
    keyVariable: 'DEEPSEEK_API_KEY',
    quirks: ['noJsonSchema', 'reasoningContent'],
  },
  fireworks: {
    ...VENDOR_WITH_RESPONSES,
    title: 'Fireworks AI',
    host: 'api.fireworks.ai',
    path: '/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    quirks: ['topK'],
    hasEmbeddings: true,
    rerank: { kind: 'same' },
  },
  groq: {
    ...VENDOR_WITH_RESPONSES,
    title: 'Groq',
    host: 'api.groq.com',
    path: '/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    quirks: ['noReasoningHistory'],
    calls: ['speech', 'transcriptions', 'translations', 'files', 'batches'],
  },
  huggingface: {
    ...VENDOR_WITH_RESPONSES,
    title: 'Hugging Face',
    host: 'router.huggingface.co',
    keyVariable: 'HF_TOKEN',
  },
  mistral: {
    ...VENDOR,
    title: 'Mistral AI',
    host: 'api.mistral.ai',
    keyVariable: 'MISTRAL_API_KEY',
    // Its streams report usage without being asked.
    quirks: ['noSeed', 'noUser', 'noStreamOptions', 'noReasoningHistory'],
    hasEmbeddings: true,
    calls: ['moderations', 'transcriptions'],
  },
  moonshot: {
    ...VENDOR,
    title: 'Moonshot AI',
    host: 'api.moonshot.ai',
    keyVariable: 'MOONSHOT_API_KEY',
    quirks: ['reasoningContent'],
  },
  nvidia: {
    ...VENDOR,
    title: 'NVIDIA',
    host: 'integrate.api.nvidia.com',
    keyVariable: 'NVIDIA_API_KEY',
    hasEmbeddings: true,
  },
  openrouter: {
    ...VENDOR_WITH_RESPONSES,
    title: 'OpenRouter',
    host: 'openrouter.ai',
    path: '/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    quirks: ['topK', 'cacheControl'],
    hasEmbeddings: true,
  },
  perplexity: {
    ...VENDOR,
    title: 'Perplexity',
    host: 'api.perplexity.ai',
    path: '/',
    keyVariable: 'PERPLEXITY_API_KEY',
    hasModelList: false,
  },
  sambanova: {
    ...VENDOR,
    title: 'SambaNova',
    host: 'api.sambanova.ai',
    keyVariable: 'SAMBANOVA_API_KEY',
    hasEmbeddings: true,
  },
  together: {
    ...VENDOR,
    title: 'Together AI',
    host: 'api.together.xyz',
    keyVariable: 'TOGETHER_API_KEY',
    calls: ['imageGenerations', 'speech', 'transcriptions', 'translations'],
    quirks: ['topK'],
    hasEmbeddings: true,
    rerank: { kind: 'cohere' },
  },
  xai: {
    ...VENDOR_WITH_RESPONSES,
    title: 'xAI',
    host: 'api.x.ai',
    keyVariable: 'XAI_API_KEY',
    calls: ['imageGenerations'],
  },
  zai: {
    ...VENDOR,
    title: 'Z.ai',
    host: 'api.z.ai',
    path: '/api/paas/v4',
    keyVariable: 'ZAI_API_KEY',
    calls: ['imageGenerations'],
    quirks: ['noJsonSchema'],
    hasModelList: false,
  },
  lmstudio: { ...OWN_SERVER, title: 'LM Studio', port: 1234 },
  ollama: { ...OWN_SERVER, title: 'Ollama', port: 11_434 },
  vllm: {
    ...OWN_SERVER,
    title: 'vLLM',
    port: 8_000,
    quirks: ['topK'],
    calls: ['transcriptions', 'translations'],
    rerank: { kind: 'same' },
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof presets

export const presetNames = Object.keys(presets) as PresetName[]
