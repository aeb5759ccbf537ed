/** Members of `_meta` that name something of a target. */

/** The task that a message belongs to. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'
/** Links of tools to the resource that shows their results, besides `_meta.ui.resourceUri`. */
export const UI_LINKS = ['ui/resourceUri', 'openai/outputTemplate'] as const
/** Who answered. */
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
