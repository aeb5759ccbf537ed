/** The state of the page, as its address holds it. */
export interface ModelsSearch {
  route?: string
  tab?: 'clients'
  model?: string
  system?: string
  /** Responses are not streamed. */
  whole?: true
  /** The route whose tools are in the loop. */
  tools?: string
}

/** Addresses are written by anyone: what does not fit is left out. */
export function readModelsSearch({ route, tab, model, system, whole, tools }: Record<string, unknown>): ModelsSearch {
  return {
    ...(typeof route === 'string' && { route }),
    ...(tab === 'clients' && { tab }),
    ...((typeof model === 'string' || typeof model === 'number') && model !== '' && { model: String(model) }),
    ...(typeof system === 'string' && system !== '' && { system }),
    ...(whole === true && { whole }),
    ...(typeof tools === 'string' && { tools }),
  }
}
