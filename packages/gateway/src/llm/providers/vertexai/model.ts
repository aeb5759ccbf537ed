import { isClaude } from '../claude-models.ts'

/** Whose model it is on Vertex, and how its path names it. */
export type VertexModel =
  | { publisher: 'anthropic'; name: string }
  | { publisher: 'google'; name: string }
  /** Only the endpoint that speaks OpenAI's format has it; the body names it, with its publisher. */
  | { publisher: 'other'; name: string }

export function vertexModel(model: string): VertexModel {
  if (isClaude(model)) {
    const name = model.replace(/^(?:publishers\/)?anthropic\/(?:models\/)?/, '')
    return { publisher: 'anthropic', name: name.replace(/-(\d{8})$/, '@$1') }
  }
  const name = googleName(model)
  return /^gemini[-@]/.test(name) && !isEmbedding(name)
    ? { publisher: 'google', name }
    : { publisher: 'other', name: model }
}

/** Without what may stand before the name of a model of Google's. */
export function googleName(model: string): string {
  return model.replace(/^(?:publishers\/google\/models\/|google\/|models\/)/, '')
}

function isEmbedding(name: string): boolean {
  return name.includes('embedding')
}
