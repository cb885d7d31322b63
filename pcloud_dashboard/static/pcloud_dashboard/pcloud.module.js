/* The step "Pcloud" of Launch Instance. */
(function () {
  'use strict';

  angular
    .module('pcloud.dashboard', [])
    .config(config);

  // The hints that the step "Pcloud" writes.
  var HINTS = ['pcloud', 'pcloud_host', 'near', 'far', 'locality'];

  config.$inject = ['$provide', '$windowProvider'];

  /* A decorator, for a run block would create the workflow on the login page,
     where its calls are answered with 401 and the page is loaded for ever. */
  function config($provide, $windowProvider) {
    var path = $windowProvider.$get().STATIC_URL + 'pcloud_dashboard/launch/';
    $provide.constant('pcloud.dashboard.launch.path', path);
    $provide.decorator(
      'horizon.dashboard.project.workflow.launch-instance.workflow',
      ['$delegate', function (workflow) {
        workflow.after('flavor', {
          id: 'pcloud',
          title: gettext('Pcloud'),
          templateUrl: path + 'pcloud.html',
          helpUrl: path + 'pcloud.help.html',
          formName: 'launchInstancePcloudForm'
        });
        return workflow;
      }]);
    /* The step "Scheduler Hints" would offer the hints of the step "Pcloud"
       again, and one would undo the other. */
    $provide.decorator(
      'horizon.app.core.openstack-service-api.glance',
      ['$delegate', function (glance) {
        var getNamespaces = glance.getNamespaces;
        glance.getNamespaces = function (params) {
          var answer = getNamespaces.apply(glance, arguments);
          if (!params || params.properties_target !== 'scheduler_hints') {
            return answer;
          }
          return answer.then(function (found) {
            angular.forEach(found.data.items, function (each) {
              HINTS.forEach(function (hint) {
                if (each.properties) {
                  delete each.properties[hint];
                }
              });
            });
            return found;
          });
        };
        return glance;
      }]);
  }
})();
