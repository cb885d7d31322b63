/* Names for buttons that Horizon draws with a picture alone, so that a screen
   reader can say what they do. */
(function () {
  'use strict';

  function name(part) {
    var buttons = $(part).find('.spinner-up, .spinner-down, .dropdown-toggle')
      .not('[aria-label]').filter(function () {
        return !$.trim($(this).text());
      });
    buttons.filter('.spinner-up').attr('aria-label', gettext('one more'));
    buttons.filter('.spinner-down').attr('aria-label', gettext('one less'));
    buttons.filter('.dropdown-toggle').attr('aria-label', gettext('more actions'));
  }

  horizon.modals.addModalInitFunction(name);
  horizon.tabs.addTabLoadFunction(name);
  $(function () {
    // Horizon makes some of these buttons when the page is ready, too.
    setTimeout(function () {
      name('#content_body');
    });
  });
  // The rows of a table are drawn anew when they change.
  $(document).on('ajaxComplete', function () {
    name('#content_body');
  });
})();
