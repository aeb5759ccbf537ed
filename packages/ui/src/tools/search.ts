/** What the address of the page holds. */
export interface ToolsSearch {
  route?: string
  tool?: string
  tab?: 'clients'
}

/** Addresses are written by anyone: what does not fit is left out. */
export function readToolsSearch({ route, tool, tab }: Record<string, unknown>): ToolsSearch {
  return {
    ...(typeof route === 'string' && { route }),
    ...((typeof tool === 'string' || typeof tool === 'number') && { tool: String(tool) }),
    ...(tab === 'clients' && { tab }),
  }
}
