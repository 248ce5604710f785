import { Skeleton } from '@mantine/core'
import classes from './editor.module.css'
import { useRestOfWindow } from './use-rest-of-window'
import { editorSkeletonText } from '../../text/editor'

/** A placeholder of the editor's size until everything is loaded. */
export function EditorSkeleton() {
  const frame = useRestOfWindow()
  return (
    <div className={classes.editor} ref={frame}>
      <Skeleton
        className={classes.waiting}
        height="100%"
        radius={0}
        role="img"
        aria-label={editorSkeletonText.loadingTheEditor}
      />
    </div>
  )
}
