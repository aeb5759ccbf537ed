import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Color is reserved for outcomes: keys are bold, comments are pale. */
const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], fontWeight: '600' },
  { tag: [tags.comment, tags.lineComment, tags.meta], color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--dim)' },
  { tag: [tags.labelName, tags.typeName], color: 'var(--accent)' },
])

export function editorTheme(isDark: boolean): Extension {
  const theme = EditorView.theme(
    {
      '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '12px' },
      '&.cm-focused': { outline: 'none' },
      // Above the numbers of lines, which would cover an outline.
      '&.cm-focused::after': {
        content: '""',
        position: 'absolute',
        inset: '0',
        border: '2px solid var(--accent)',
        pointerEvents: 'none',
        zIndex: '400',
      },
      '.cm-scroller': { fontFamily: 'var(--mono-font)', lineHeight: '1.55' },
      '.cm-content': { caretColor: 'var(--text)', padding: '8px 0 24px' },
      '.cm-cursor': { borderLeftColor: 'var(--text)' },
      '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--dim)', border: '0' },
      '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
      '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--raised)' },
      '.cm-tooltip': { backgroundColor: 'var(--panel)', border: '1px solid var(--line-strong)', color: 'var(--text)' },
      '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
      '.cm-completionInfo': { maxWidth: '320px', fontFamily: 'var(--text-font)' },
      '.cm-completionDetail': { color: 'var(--dim)', fontStyle: 'normal' },
      '.cm-diagnostic': { fontFamily: 'var(--mono-font)', whiteSpace: 'pre-wrap', maxWidth: '560px' },
      '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
      '.cm-textfield, .cm-button': { backgroundColor: 'var(--panel)', color: 'var(--text)', backgroundImage: 'none' },
    },
    { dark: isDark },
  )
  return [theme, syntaxHighlighting(words)]
}
