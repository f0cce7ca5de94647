import { Alert } from '@mantine/core';
import classes from './notices.module.css';
import type { Notice } from './notices.ts';
import { useApp } from './store.ts';

/** What the user must know, newest last, until dismissed. */
export function NoticeList() {
  const notices = useApp((state) => state.notices);
  return (
    <div className={classes.stack}>
      {notices.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function NoticeCard({ notice }: { readonly notice: Notice }) {
  const dismiss = useApp((state) => state.dismiss);
  const { id, title, message, issues } = notice;
  return (
    <Alert
      role="alert"
      color="red"
      variant="outline"
      title={title}
      withCloseButton
      closeButtonLabel={`Dismiss: ${title}`}
      onClose={() => dismiss(id)}
      className={classes.notice ?? ''}
      classNames={{ title: classes.title ?? '' }}
    >
      {message !== '' && <p className={classes.message}>{message}</p>}
      {issues.length > 0 && (
        <dl className={classes.issues}>
          {issues.map(({ field, given, allowed }) => (
            <div key={`${field} ${given}`}>
              <dt>
                <code>{field}</code>
              </dt>
              <dd>
                <span className={classes.word}>given</span> <span>{given}</span>
              </dd>
              <dd>
                <span className={classes.word}>allowed</span> <span>{allowed}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Alert>
  );
}
