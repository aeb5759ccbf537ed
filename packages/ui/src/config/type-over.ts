import { EditorView } from '@codemirror/view'

/**
 * `typeOver` replaces the selection by the typed text. The browser itself would copy the look of the old text as inline
 * styles, which the content security policy of the page forbids.
 */
export const typeOver = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { state, composing } = view
    const { from, to, empty } = state.selection.main
    if (inputType !== 'insertText' || data === null || empty || composing || state.readOnly) return false
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    const isTaken = state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
    if (!isTaken) view.dispatch(insert())
    return true
  },
})
