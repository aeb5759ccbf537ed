/** Counts and estimates tokens; the vocabulary of a model is loaded with the first count. */
export { decodeBedrockCountTokens, encodeBedrockCountTokens } from './bedrock.ts'
export { countTokens } from './count-tokens.ts'
export { estimateAnswer, estimateRequest } from './estimate.ts'
